import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type Proxy = {
  url: string
  /** Cuts the connection that sends this text next; `forward`: after the server has got it, but not its answer. `close`: and accepts no more. */
  cutAt(text: string, options: { forward: boolean; close?: boolean }): void
  /**
   * As `cutAt`, and resolves when it was cut. `hole`: the connection stays open, and nothing passes it any more. False if nobody
   * sent the text within a time in milliseconds.
   */
  cutOnce(text: string, options: { forward: boolean; hole?: boolean; within: number }): Promise<boolean>
  /** Connects whoever comes from now on to another database. */
  pointAt(databaseUrl: string): void
  /** Cuts every connection, and accepts none until `open`. */
  close(): void
  open(): void
  stop(): void
}

/** A proxy in front of a database, which loses connections at chosen moments. `delayMs`: what passes it takes this long, each way. */
export const startProxy = async (databaseUrl: string, { delayMs = 0 } = {}): Promise<Proxy> => {
  const pass = (data: Buffer, to: Socket): void => {
    if (delayMs === 0) to.write(data)
    else setTimeout(() => to.write(data), delayMs)
  }
  let target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let cut: { text: string; forward: boolean; close?: boolean; hole?: boolean; done?(): void } | undefined
  let closed = false
  const server = createServer((client) => {
    if (closed) return void client.destroy()
    const database = connect(Number(target.port), target.hostname)
    let muted = false
    let isHole = false
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        // After `forward`, the server finishes what it has got.
        if (socket === database || !muted) other.destroy()
      })
    }
    client.on('data', (data) => {
      if (isHole) return
      if (!cut || !data.includes(cut.text)) return pass(data, database)
      const { forward, close = false, hole = false, done } = cut
      cut = undefined
      done?.()
      closed = close
      muted = forward || hole
      isHole = hole
      if (hole) return void (forward && database.write(data))
      if (forward) database.write(data, () => client.destroy())
      else client.destroy()
    })
    database.on('data', (data) => muted || pass(data, client))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    cutAt: (text, options) => void (cut = { text, ...options }),
    cutOnce: (text, { within, ...options }) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          cut = undefined
          resolve(false)
        }, within)
        const done = (): void => {
          clearTimeout(timer)
          resolve(true)
        }
        cut = { text, ...options, done }
      }),
    pointAt: (to) => void (target = new URL(to)),
    close: () => {
      closed = true
      destroyAll()
    },
    open: () => void (closed = false),
    stop: () => {
      destroyAll()
      server.close()
    },
  }
}
