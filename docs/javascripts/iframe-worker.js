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
      inside.postMessage = data => setTimeout(() => this.onmessage?.({ data }))
      this.ready = new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = event => this.onerror?.(event)
        inside.document.documentElement.append(script)
      })
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow?.onmessage?.({ data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
