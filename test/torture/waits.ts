import { setTimeout as pause } from 'node:timers/promises'
import { planRequest } from '../../src/client/request.ts'
import type { Service } from '../e2e/processes.ts'
import { operationOf } from './requests.ts'

/** How a wait for the end of a request ended. `status` is that of the request, or that of HTTP if it was refused. */
export type Waited = {
  status: string
  /** Whether the node answered with the request. */
  waited: boolean
  /** When the answer arrived, as `performance.now()`. */
  at: number
  text: string
}

/** The longest wait that the service allows. */
const waitS = 60

/** Waits at a node until a request ends. */
export const openWait = async (
  baseUrl: string,
  key: string,
  request_id: string,
  wait_s = waitS,
): Promise<Waited> => {
  const { url } = planRequest(baseUrl, operationOf('getApproval'), { request_id, wait_s })
  try {
    const response = await fetch(url, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout((wait_s + 30) * 1000),
    })
    const text = await response.text()
    const at = performance.now()
    if (response.status !== 200) return { status: String(response.status), waited: false, at, text }
    const { data } = JSON.parse(text) as { data: { status: string } }
    return { status: data.status, waited: true, at, text }
  } catch (error) {
    return { status: 'no response', waited: false, at: performance.now(), text: String(error) }
  }
}

const openAt = async ({ ready }: Service): Promise<number> => {
  const metrics = await (await fetch(ready.metrics_url!)).text()
  return Number(/^svc_approval_waits (\d+)$/m.exec(metrics)?.[1])
}

/** Resolves once as many waits as that are open at these nodes, which were started with `--metrics-port`. */
export const waitsOpen = async (nodes: readonly Service[], count: number): Promise<void> => {
  for (;;) {
    const open = await Promise.all(nodes.map(openAt))
    if (open.reduce((sum, one) => sum + one, 0) >= count) return
    await pause(20)
  }
}
