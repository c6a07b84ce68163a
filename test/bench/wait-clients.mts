import { connect } from 'node:net'

// Holds `each` requests of every one of `paths` open, each on a connection of its own, and prints when each was answered. The
// argument is JSON of {origin, paths, each}; SVC_API_KEY is the key. It reads HTTP from the socket itself: a client library
// takes longer for thousands of answers than the service.

const { origin, paths, each } = JSON.parse(process.argv[2]!) as {
  origin: string
  paths: string[]
  each: number
}
const { hostname, port, host } = new URL(origin)
/** The system refuses some of many connections at once. */
const connectingAtMost = 100

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

/** Sends a request. The first promise resolves when it was sent, the second with the time of the answer. */
const open = (path: string) => {
  const socket = connect(Number(port), hostname)
  const sent = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${process.env['SVC_API_KEY']}\r\n\r\n`,
        () => resolve(),
      )
    })
  })
  const answered = new Promise<number>((resolve, reject) => {
    socket.once('data', (data: Buffer) => {
      const at = Number(process.hrtime.bigint()) / 1e6
      if (data.toString('latin1', 9, 12) === '200') resolve(at)
      else reject(new Error(data.toString()))
    })
  })
  return { sent, answered }
}

const answers = paths.map((): Promise<number>[] => [])
const requests = paths.flatMap((path, at) => Array.from({ length: each }, () => ({ path, at })))
const next = requests.values()
const openAll = async (): Promise<void> => {
  for (const { path, at } of next) {
    const { sent, answered } = open(path)
    answers[at]!.push(answered)
    await sent
  }
}
await Promise.all(Array.from({ length: connectingAtMost }, openAll))
print({ open: requests.length })
for (const [at, all] of answers.entries())
  void Promise.all(all).then((times) => print({ path: paths[at], times }))
