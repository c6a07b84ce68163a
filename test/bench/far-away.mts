import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

// A proxy in front of a database, as far away as its arguments say: {port, roundTripMs}. Prints {"port"}. Timers of Node are
// too coarse for parts of a millisecond, so for those it waits on a lock that nobody releases, which takes most of a core.
const { port, roundTripMs } = JSON.parse(process.argv[2]!) as { port: number; roundTripMs: number }
const oneWayMs = roundTripMs / 2
const longestWaitMs = 0.1

type Due = { at: number; to: Socket; data: Buffer }
const due: Due[] = []
const lock = new Int32Array(new SharedArrayBuffer(4))
let running = false

const forward = (): void => {
  const wait = due[0]!.at - performance.now()
  if (wait > 0) Atomics.wait(lock, 0, 0, Math.min(wait, longestWaitMs))
  while (due.length > 0 && due[0]!.at <= performance.now()) {
    const { to, data } = due.shift()!
    if (!to.destroyed) to.write(data)
  }
  if (due.length > 0) setImmediate(forward)
  else running = false
}

const send = (to: Socket, data: Buffer): void => {
  if (Number.isInteger(oneWayMs)) return void setTimeout(() => to.destroyed || to.write(data), oneWayMs)
  due.push({ at: performance.now() + oneWayMs, to, data })
  if (running) return
  running = true
  setImmediate(forward)
}

const server = createServer((client) => {
  const database = connect(port, '127.0.0.1')
  for (const [from, to] of [
    [client, database],
    [database, client],
  ] as const) {
    from.setNoDelay(true)
    from.on('data', (data) => send(to, data))
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ port: address.port })}\n`)
})
