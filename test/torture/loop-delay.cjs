// Preloaded into a service under test: answers its parent the longest delay of the event loop since it last asked, in ms.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { isMainThread } = require('node:worker_threads')
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// A delay is counted when its timer fires, and only between two that fired: both ends get a few milliseconds.
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
