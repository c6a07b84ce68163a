import { randomBytes } from 'node:crypto'
import { createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { authorize, consentFrom, createVerifier, exchange, requestIn } from '../service/mcp/oauth-client.ts'
import { createPhone, enrollPhone, type Phone } from '../service/page/phone.ts'
import { onService } from './reached-service.ts'
import type { TestService } from '../service/harness.ts'
import type { Result, Torture } from './torture.ts'
import type { Change } from './variant.ts'

const redirect_uri = 'http://127.0.0.1:4321/'
const everything = 'ask read people rules devices keys notify'
const rounds = 50
const racing = 4

type Keys = { access_token?: string; management_token?: string }
type Code = { code: string; code_verifier: string }

const codeFor = async (service: TestService, phone: Phone, installation: string): Promise<Code> => {
  const { code_challenge, code_verifier } = createVerifier()
  const fields = { client_id: 'svc', redirect_uri, resource: undefined, code_challenge, scope: everything }
  const request = requestIn(await authorize(service, { ...fields, installation, host: 'laptop' }))
  const { redirect_to } = dataOf(await consentFrom(service, phone, request, 'svc on laptop'))
  return { code: new URL(String(redirect_to)).searchParams.get('code') ?? '', code_verifier }
}

const keysFor = async (service: TestService, fields: Code & Record<string, string>): Promise<Keys> => {
  const answer = await exchange(service, { client_id: 'svc', redirect_uri, resource: undefined, ...fields })
  return answer.status === 200 ? (JSON.parse(answer.text) as Keys) : {}
}

const isLive = async ({ call }: TestService, key: string | undefined): Promise<boolean> =>
  key !== undefined && (await call('GET', '/svc/v1/whoami', { key })).status === 200

const liveAmong = async (service: TestService, keys: readonly (string | undefined)[]): Promise<number> =>
  (await Promise.all(keys.map((key) => isLive(service, key)))).filter(Boolean).length

/** The keys that somebody got who must get none. */
const attacks: Record<string, (service: TestService, grace: Phone, ada: Phone) => Promise<Keys[]>> = {
  'another verifier': async (service, grace) => {
    const [one, other] = [await codeFor(service, grace, newId()), await codeFor(service, grace, newId())]
    return [await keysFor(service, { code: one.code, code_verifier: other.code_verifier })]
  },
  'a guessed code': async (service) =>
    Promise.all(
      Array.from({ length: 20 }, () =>
        keysFor(service, {
          code: randomBytes(300).toString('base64url'),
          code_verifier: createVerifier().code_verifier,
        }),
      ),
    ),
  'a code replayed': async (service, grace) => {
    const code = await codeFor(service, grace, newId())
    return [await keysFor(service, code), await keysFor(service, code)]
  },
  'another redirect': async (service, grace) => [
    await keysFor(service, {
      ...(await codeFor(service, grace, newId())),
      redirect_uri: 'http://127.0.0.1:4322/',
    }),
  ],
  'management for a member': async (service, _, ada) => {
    const { management_token } = await keysFor(service, await codeFor(service, ada, newId()))
    return [management_token === undefined ? {} : { management_token }]
  },
}

const newId = (): string => randomBytes(16).toString('base64url')

const run = (changes: readonly Change[] | undefined, times: number) =>
  onService(changes, async (service) => {
    const hits: Record<string, number> = { 'one of each kind': 0, refused: 0 }
    const examples: string[] = []
    let [count, failures] = [0, 0]
    const wrong = (what: string): void => {
      failures++
      if (examples.length < 5) examples.push(what)
    }
    const { id } = await createTenant(service, 'acme')
    for (let round = 0; round < times; round++) {
      // A person of each round, because one can sign in to twenty terminals.
      const n = round * 2 + 1
      const grace = await enrollPhone(service, id, await createMember(service, id, n, { role: 'admin' }))
      const ada = await createPhone(service, id, n + 1)
      const installation = newId()
      const codes = await Promise.all(
        Array.from({ length: racing }, () => codeFor(service, grace, installation)),
      )
      const got = await Promise.all(codes.map((code) => keysFor(service, code)))
      const live = [
        await liveAmong(
          service,
          got.map((one) => one.access_token),
        ),
        await liveAmong(
          service,
          got.map((one) => one.management_token),
        ),
      ]
      count += racing
      if (live.join() === '1,1') hits['one of each kind']!++
      else wrong(`after ${racing} renewals at once, ${live.join(' and ')} keys work`)
      for (const [name, attack] of Object.entries(attacks)) {
        count++
        const keys = (await attack(service, grace, ada)).flatMap((one) => Object.values(one))
        if ((await liveAmong(service, keys)) === 0) hits.refused!++
        else wrong(name)
      }
    }
    return { count, failures, hits, examples }
  })

/** The broken variant renews nothing, checks no verifier, and takes every person for an administrator. */
const broken: Change[] = [
  {
    file: 'service/mcp/oauth/token.ts',
    from: 'sameSecret(sha256Base64url(code_verifier), grant.code_challenge) &&',
    to: '',
  },
  {
    file: 'service/mcp/oauth/token.ts',
    from: 'terminal ? keysOfTerminal(',
    to: '!terminal ? keysOfTerminal(',
  },
  { file: 'service/page/consent.ts', from: '(await isAdministrator(db, member))', to: 'true' },
]

export const torture: Torture = {
  name: `Sign-in: ${racing} renewals of one terminal at once, and ${Object.keys(attacks).length} attacks`,
  must: 'exactly one key of each kind, 0 keys for anybody else',
  run: async (): Promise<Result> => {
    const honest = await run(undefined, rounds)
    const { failures } = await run(broken, 2)
    return { ...honest, control: failures }
  },
}
