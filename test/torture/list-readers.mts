import { connect, type Socket } from 'node:net'
import { request } from 'node:http'

// Reads lists with the key in SVC_API_KEY: several at once and again and again, and some without reading the answers. Prints a line of
// JSON for each answer, until it is stopped.

const { origin, paths, readers, slow } = JSON.parse(process.argv[2]!) as {
  origin: string
  paths: string[]
  readers: number
  slow: number
}
const key = process.env['SVC_API_KEY']!
const { hostname, port } = new URL(origin)

/** Reads one answer to its end; its status, or how it failed. */
const read = (path: string): Promise<{ outcome: string; bytes: number }> =>
  new Promise((resolve) => {
    let bytes = 0
    const asked = request(`${origin}${path}`, { headers: { 'x-api-key': key } }, (response) => {
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('error', () => resolve({ outcome: 'cut', bytes }))
      response.on('end', () => resolve({ outcome: String(response.statusCode), bytes }))
    })
    asked.on('error', () => resolve({ outcome: 'failed', bytes }))
    asked.end()
  })

let next = 0
const readAll = async (): Promise<never> => {
  for (;;) {
    const path = paths[next++ % paths.length]!
    process.stdout.write(`${JSON.stringify({ path, ...(await read(path)) })}\n`)
  }
}

/** Asks for a list and reads nothing of it; again when the service closes the connection. */
const stall = (path: string): Socket =>
  connect(Number(port), hostname, function (this: Socket) {
    this.pause()
    this.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${key}\r\n\r\n`)
  })
    .on('error', () => undefined)
    .on('close', () => stall(path))

for (let i = 0; i < slow; i++) stall(paths[i % paths.length]!)
await Promise.all(Array.from({ length: readers }, readAll))
