// A page that is opened from disk may not start a worker, and search runs in one. There, this runs the worker's
// script in a hidden frame, whose `onmessage` and `postMessage` stand for those of the worker.
if (location.protocol === "file:") {
  window.Worker = class {
    onmessage = null
    onerror = null
    onmessageerror = null

    constructor(url) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = message => this.deliver(this, message)
      this.ready = new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = event => this.onerror?.(event)
        inside.document.documentElement.append(script)
      })
    }

    // Messages are copied, as between threads: neither side may see what the other changes later.
    deliver(receiver, message) {
      const data = structuredClone(message)
      setTimeout(() => receiver?.onmessage?.({ data }))
    }

    postMessage(message) {
      const copy = structuredClone(message)
      this.ready.then(() => this.deliver(this.frame.contentWindow, copy))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
