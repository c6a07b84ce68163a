import { answerTo, createPhone, fromPhone, type Phone } from '../service/page/phone.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import type { TestService } from '../service/harness.ts'
import {
  authorize,
  callback,
  callTools,
  createVerifier,
  exchange,
  listTools,
  obtainCode,
  register,
  registered,
  requestIn,
  sendForm,
} from '../service/mcp/oauth-client.ts'
import { onService } from './reached-service.ts'
import type { Result, Torture } from './torture.ts'
import type { Change } from './variant.ts'

const rounds = 20

type Stage = { service: TestService; ada: Phone; eve: Phone; client: string; other: string }

/** Tries to get a token or a redirect that must not exist. Returns it. */
type Attack = (stage: Stage) => Promise<string | undefined>

const tokenIn = ({ text }: { text: string }): string | undefined => {
  try {
    return (JSON.parse(text) as { access_token?: string }).access_token
  } catch {
    return undefined
  }
}

/** An honest consent, and a client that sends something else with its code. */
const exchanged =
  (change: () => Record<string, string | undefined>): Attack =>
  async ({ service, ada, client }) => {
    const { code, code_verifier, client_id } = await obtainCode(service, ada, client)
    return tokenIn(await exchange(service, { code, code_verifier, client_id, ...change() }))
  }

/** A request that must not reach the page, or any address but that of the client. */
const asked =
  (fields: Record<string, string | undefined>): Attack =>
  async ({ service, client }) => {
    const { code_challenge } = createVerifier()
    const answer = await authorize(service, { client_id: client, code_challenge, ...fields })
    const location = answer.headers.get('location') ?? ''
    return (
      requestIn(answer) || (location && !location.startsWith(`${callback}?error=`) ? location : undefined)
    )
  }

const requestOf = async ({ service, client }: Stage): Promise<string> =>
  requestIn(await authorize(service, { client_id: client, ...createVerifier() }))

/** A consent that is signed for something else, or not at all. */
const consented =
  (
    forge: (
      stage: Stage,
      request: string,
    ) => Promise<{ body: object; cookie?: string; headers?: Record<string, string> }>,
  ): Attack =>
  async (stage) => {
    const { body, cookie = stage.ada.cookie, headers } = await forge(stage, await requestOf(stage))
    const answer = await fromPhone(stage.service, 'POST', 'consent', {
      cookie,
      body,
      ...(headers && { headers }),
    })
    return answer.status === 200 ? String(dataOf(answer).redirect_to) : undefined
  }

const challengeFor = async ({ service, ada }: Stage, request: string, name: string): Promise<string> =>
  dataOf(
    await fromPhone(service, 'POST', 'consent/challenge', {
      cookie: ada.cookie,
      body: { request, name, scopes: ['ask'] },
    }),
  ).challenge

const signedFor = async (stage: Stage, request: string, name = 'Coder') => {
  const challenge = await challengeFor(stage, request, name)
  return { name, scopes: ['ask'], challenge, response: answerTo(challenge, stage.ada.key) }
}

const evil = 'https://evil.example/callback'

const attacks: Record<string, Attack> = {
  'redirect to another host': asked({ redirect_uri: evil }),
  'redirect to another path': asked({ redirect_uri: `${callback}/evil` }),
  'redirect with a user name': asked({
    redirect_uri: callback.replace('127.0.0.1', '127.0.0.1@evil.example'),
  }),
  'redirect with a fragment': asked({ redirect_uri: `${callback}#evil` }),
  'redirect in another case': asked({ redirect_uri: callback.replace('callback', 'Callback') }),
  'redirect with a query': asked({ redirect_uri: `${callback}?next=${evil}` }),
  'redirect to another scheme': asked({ redirect_uri: callback.replace('http', 'https') }),
  'no PKCE': asked({ code_challenge: undefined }),
  'plain PKCE': asked({ code_challenge_method: 'plain' }),
  'another audience asked': asked({ resource: 'https://other.example/mcp' }),
  'more scope': asked({ scope: 'ask keys' }),
  'another verifier': exchanged(() => ({ code_verifier: createVerifier().code_verifier })),
  'no verifier': exchanged(() => ({ code_verifier: undefined })),
  'another redirect': exchanged(() => ({ redirect_uri: evil })),
  'another audience': exchanged(() => ({ resource: 'https://other.example/mcp' })),
  'another client': async ({ service, ada, client, other }) => {
    const { code, code_verifier } = await obtainCode(service, ada, client)
    return tokenIn(await exchange(service, { code, code_verifier, client_id: other }))
  },
  'code replayed': async ({ service, ada, client }) => {
    const { code, code_verifier, client_id } = await obtainCode(service, ada, client)
    const first = tokenIn(await exchange(service, { code, code_verifier, client_id }))
    const second = tokenIn(await exchange(service, { code, code_verifier, client_id }))
    if (second) return second
    return (await callTools(service, first, listTools)).status === 200 ? first : undefined
  },
  'code raced': async ({ service, ada, client }) => {
    const { code, code_verifier, client_id } = await obtainCode(service, ada, client)
    const all = await Promise.all(
      Array.from({ length: 5 }, () => exchange(service, { code, code_verifier, client_id })),
    )
    for (const token of all.map(tokenIn))
      if (token && (await callTools(service, token, listTools)).status === 200) return token
    return undefined
  },
  'stolen session without the device': consented(async (_, request) => ({
    body: { request, name: 'Coder', scopes: ['ask'], challenge: 'x', response: { id: 'x', response: {} } },
  })),
  'session of one, signature of another': consented(async (stage, request) => {
    const challenge = await challengeFor(stage, request, 'Coder')
    return {
      body: {
        request,
        name: 'Coder',
        scopes: ['ask'],
        challenge,
        response: answerTo(challenge, stage.eve.key),
      },
    }
  }),
  'signature for another request': consented(async (stage, request) => ({
    body: { request, ...(await signedFor(stage, await requestOf(stage))) },
  })),
  'signature for another name': consented(async (stage, request) => ({
    body: { request, ...(await signedFor(stage, request)), name: 'Payroll' },
  })),
  'consent from another site': consented(async (stage, request) => ({
    body: { request, ...(await signedFor(stage, request)) },
    headers: { origin: 'https://evil.example' },
  })),
  'forged request': consented(async (stage, request) => ({
    body: { ...(await signedFor(stage, request)), request: `${request.slice(0, -4)}AAAA` },
  })),
  'token at the REST API': async ({ service, ada, client }) => {
    const { code, code_verifier, client_id } = await obtainCode(service, ada, client)
    const token = tokenIn(await exchange(service, { code, code_verifier, client_id }))!
    const { status } = await service.call('GET', '/svc/v1/whoami', { key: token })
    await sendForm(service, '/revoke', { token })
    return status === 401 ? undefined : token
  },
  'client in a private network': async ({ service }) => {
    const { code_challenge } = createVerifier()
    const client_id = 'https://169.254.169.254/client.json'
    return requestIn(await authorize(service, { client_id, code_challenge, redirect_uri: evil })) || undefined
  },
}

const run = (changes: readonly Change[] | undefined, times: number) =>
  onService(changes, async (service) => {
    const hits: Record<string, number> = { 'honest tokens': 0, refused: 0, 'registrations refused': 0 }
    const examples: string[] = []
    let [count, failures] = [0, 0]
    const { id } = await createTenant(service, 'acme')
    const [ada, eve] = [await createPhone(service, id, 1), await createPhone(service, id, 2)]
    const [client, other] = [await registered(service), await registered(service)]
    const stage = { service, ada, eve, client, other }
    for (let round = 0; round < times; round++) {
      for (const [name, attack] of Object.entries(attacks)) {
        count++
        const got = await attack(stage)
        if (got === undefined) hits.refused!++
        else {
          failures++
          if (examples.length < 5) examples.push(`${name}: ${got.slice(0, 60)}`)
          await sendForm(service, '/revoke', { token: got })
        }
      }
      const { code, code_verifier, client_id } = await obtainCode(service, ada, client)
      const token = tokenIn(await exchange(service, { code, code_verifier, client_id }))
      if (token && (await callTools(service, token, listTools)).status === 200) hits['honest tokens']!++
      else failures++
      if (token) await sendForm(service, '/revoke', { token })
    }
    for (let n = 0; n < 200; n++) {
      const { status } = await register(service, { redirect_uris: [callback] })
      if (status === 429) hits['registrations refused']!++
    }
    count += 200
    if (hits['registrations refused']! < 170) failures++
    return { count, failures, hits, examples }
  })

/** The broken variant checks neither PKCE nor the redirect address. */
const broken: Change[] = [
  {
    file: 'service/mcp/oauth/token.ts',
    from: 'sameSecret(sha256Base64url(code_verifier), grant.code_challenge) &&',
    to: '',
  },
  {
    file: 'service/mcp/oauth/redirect-uri.ts',
    from: 'redirectProblem(asked) === undefined &&',
    to: 'true ||',
  },
]

export const torture: Torture = {
  name: `OAuth: ${Object.keys(attacks).length} attacks on authorization, and a flood of registrations`,
  must: '0 tokens, 0 foreign redirects',
  run: async (): Promise<Result> => {
    const honest = await run(undefined, rounds)
    const { failures } = await run(broken, 1)
    return { ...honest, control: failures }
  },
}
