import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => void server.close(() => resolve(true)))
  })

/**
 * A port for a program that cannot choose one itself, or that starts again on the same one. It is none of those that Linux
 * assigns, which any connection could get while the program is not running.
 */
export const findPort = async (): Promise<number> => {
  const port = randomInt(10_000, 32_000)
  return (await isFree(port)) ? port : findPort()
}
