// Preloaded into a service under test: tells its parent what decides over the end of the process.
const decides = /^(?:SIG[A-Z0-9]+|exit|beforeExit|uncaughtException|unhandledRejection)$/
process.on('message', () => {
  const names = process.eventNames().filter((name) => decides.test(String(name)))
  process.send(Object.fromEntries(names.map((name) => [name, process.listenerCount(name)])))
})
process.channel.unref()
