import type { WantedState } from '../../../src/cli/declare/document.ts'
import { runSteps, type Outcome } from '../../../src/cli/declare/execution.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import { readState } from '../../../src/cli/declare/read-state.ts'
import { sections, type State } from '../../../src/cli/declare/state.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/rest.ts'
import type { HttpRequest } from '../../../src/core/transport.ts'
import type { TestService } from '../../service/harness.ts'

/** A client of the real service without a socket. `seen` records each request. */
export const clientOf = (
  { app, operatorKey }: TestService,
  options: {
    key?: string
    seen?: HttpRequest[]
    answer?(request: HttpRequest): { status: number; body: string } | undefined
  } = {},
): Client => {
  const { key = operatorKey, seen = [], answer } = options
  return createClient({
    baseUrl: 'http://127.0.0.1:8080/admin/public/api',
    apiKey: async () => key,
    transport: async (request) => {
      seen.push(request)
      const other = answer?.(request)
      if (other) return { ...other, headers: {} }
      const response = await app.request(
        request.url,
        { ...request, body: request.body ?? null },
        { incoming: { socket: {} } },
      )
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }
    },
  })
}

export const never = new AbortController().signal
const scope = { sections, rules: true }
/** Everything that the service holds for `acme`. */
export const read = (client: Client, organization = 'acme'): Promise<State> =>
  readState(client, organization, scope, never)

const ignore: (outcome: Outcome) => void = () => {}

/** Runs `svc apply` without the prompt. */
export const apply = async (
  wanted: WantedState,
  client: Client,
  { prune = true, signal = never, report = ignore } = {},
) => {
  const state = await readState(client, wanted.slug, scope, never)
  const { steps } = planFrom(wanted, state, { prune })
  return runSteps(steps, { client, org_id: state.org_id, signal, report })
}

/** The users of a file. */
export const people = (n: number): string =>
  Array.from(
    { length: n },
    (_, i) =>
      `  - { mobile: "+1202555${String(1000 + i)}", first_name: A, last_name: B, email: a@b.example }\n`,
  ).join('')
/** The start of a file for `acme`. */
export const acme = 'svc: 1\norganization: { slug: acme, name: Acme }\n'
