import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A link to a service on this machine: each direction delays by half of the round trip and carries so many bytes a second. */
export const createSlowLink = async ({
  roundTripMs,
  bytesPerSecond,
}: {
  roundTripMs: number
  bytesPerSecond: number
}) => {
  let port = 0
  let isSlow = false
  const open = new Set<Socket>()
  const fetched = new Set<string>()

  /** All connections share the bandwidth of one direction. */
  const createDirection = () => {
    let freeAt = 0
    return (from: Socket, to: Socket): void => {
      from.setNoDelay(true)
      open.add(from)
      let last = 0
      from.on('data', (data) => {
        const now = performance.now()
        freeAt = Math.max(freeAt, now) + (isSlow ? (data.length / bytesPerSecond) * 1000 : 0)
        // In order, also for what was sent before the link became fast.
        last = Math.max(last, isSlow ? freeAt + roundTripMs / 2 : now)
        setTimeout(() => to.destroyed || to.write(data), last - now)
      })
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        setTimeout(() => to.destroy(), Math.max(0, last - performance.now()))
      })
    }
  }
  const [up, down] = [createDirection(), createDirection()]
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1')
    client.on('data', (data) => {
      for (const [, path] of String(data).matchAll(/^GET ([^ ?]+)/gm)) fetched.add(path!)
    })
    up(client, service)
    down(service, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    connect: (url: string): void => void (port = Number(new URL(url).port)),
    /** The path of everything that was fetched so far. */
    fetched: (): string[] => [...fetched],
    /** Whether it delays and limits from now on. */
    slow: (slow: boolean): void => void (isSlow = slow),
    close: (): void => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
