import { fieldsOf } from '../../src/contract/describe.ts'
import { planRequest } from '../../src/client/request.ts'
import { table, type OperationId } from '../../src/contract/table.ts'
import type { Operation } from '../../src/contract/operation.ts'

export const operationIds = Object.keys(table) as OperationId[]
export const operationOf = (id: OperationId): Operation => table[id]

export type Reply = { status: number; text: string; body: { status?: string; data?: unknown } }

/** A busy machine answers within this time. */
const hangMs = 30_000

/** Sends one request over real HTTP, with a timeout: a hang is a failure. */
export const send = async (
  url: string,
  method: string,
  key: string | undefined,
  body?: string,
  headers: Record<string, string> = {},
): Promise<Reply> => {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body ?? null,
    signal: AbortSignal.timeout(hangMs),
  })
  const text = await response.text()
  let parsed: Reply['body'] = {}
  try {
    parsed = JSON.parse(text) as Reply['body']
  } catch {
    // Left empty, so that the caller sees the missing envelope.
  }
  return { status: response.status, text, body: parsed }
}

export const call = (
  baseUrl: string,
  id: OperationId,
  key: string | undefined,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Reply> => {
  const plan = planRequest(baseUrl, operationOf(id), input)
  return send(plan.url, plan.method, key, plan.body && JSON.stringify(plan.body), headers)
}

/** The data of a response that must be 2xx. */
export const must = async (reply: Promise<Reply>): Promise<{ id: number; key: string }> => {
  const { status, text, body } = await reply
  if (status >= 300) throw new Error(`Preparing failed: ${status} ${text}`)
  return body.data as { id: number; key: string }
}

let mobiles = 0
/** An unused national number in +1. */
export const nextMobile = (): string => `20255${String(10_000 + mobiles++)}`

/** An input from the examples of the table, without real IDs. */
export const exampleInput = (id: OperationId): Record<string, unknown> => {
  const input: Record<string, unknown> = {}
  for (const field of fieldsOf(operationOf(id))) {
    const example = field.meta.examples?.[0]
    if (example === undefined || field.path.length > 1) continue
    input[field.name] = example
  }
  if ('mobile' in input && id !== 'updateUser') input.mobile = nextMobile()
  return input
}
