// Preloaded into a service under test: reports the longest delay of the event loop since the last request, in ms.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { isMainThread } = require('node:worker_threads')
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// A delay is recorded when its timer fires, between two timers that fired, so both ends get a few milliseconds.
const fired = () => new Promise((resolve) => setTimeout(resolve, 5))
if (isMainThread) {
  process.on('message', async () => {
    await fired()
    const { max } = delay
    delay.reset()
    await fired()
    process.send(max / 1e6)
  })
  process.channel.unref()
}
