// Preloaded into a service under test: reports the listeners that affect how the process ends.
const decides = /^(?:SIG[A-Z0-9]+|exit|beforeExit|uncaughtException|unhandledRejection)$/
process.on('message', () => {
  const names = process.eventNames().filter((name) => decides.test(String(name)))
  process.send(Object.fromEntries(names.map((name) => [name, process.listenerCount(name)])))
})
process.channel.unref()
