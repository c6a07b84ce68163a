import { startService } from '../../src/service/lifecycle/serve.ts'

// The real service on a real port, in the process of the test, for tests of the programs that use it. What a process of
// its own adds (its flags, its signals, its end) is tested with `startService` of `processes.ts`.

export type ServiceHere = {
  baseUrl: string
  key: string
  dataDir: string
  /** Finishes the requests in progress, then closes the store. */
  stop(): Promise<unknown>
}

type Options = { dev?: boolean; port?: string; env?: Record<string, string> }

/** Starts the service with a data folder on a free port, or on the port given. */
export const startServiceHere = async (
  dataDir: string,
  key: string,
  { dev = false, port = '0', env = {} }: Options = {},
): Promise<ServiceHere> => {
  const { baseUrl, stop } = await startService({
    dataDir,
    port: Number(port),
    dev,
    env: { SVC_BOOTSTRAP_API_KEY: key, ...env },
    log: () => undefined,
  })
  return { baseUrl, key, dataDir, stop }
}
