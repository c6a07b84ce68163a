import { describe, expect, test } from 'vitest'
import { ask, awaitHeld, type Terms } from '../../src/asking/ask.ts'
import type { Backend } from '../../src/asking/backend.ts'
import { silent } from '../../src/asking/progress.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { SvcError } from '../../src/core/errors.ts'
import { digestOf } from '../../src/receipt/subject.ts'
import { record } from '../cli/approve/records.ts'
import { failure } from '../client/hosted.ts'

const attestation = { format: 'jws' as const, jws: 'a.b.c', kid: 'k', claims: {} }
const approved = record({ status: 'approved', attestation })
const unproven = record({ status: 'approved' })
const wanted = { action: 'Deploy 4.2' }
const who = { approvers: ['+12025550101'] }

/** A service that answers each poll with the next of these, and what it was told. */
const playing = (answers: (ApprovalRecord | SvcError)[], changes: Partial<Backend> = {}) => {
  const told: string[] = []
  const abort = new AbortController()
  let now = Date.parse(record().requested_at)
  const backend: Backend = {
    origin: 'https://svc.example.com',
    local: false,
    tools: false,
    flags: ' --profile prod',
    boundToAction: true,
    now: () => now,
    organization: async () => undefined,
    request: async ({ action }) => {
      told.push(`asked: ${action}`)
      return record()
    },
    status: async (request_id) => record({ request_id }),
    wait: async (_, seconds) => {
      now += seconds * 1000
      const answer = answers.shift()!
      if (answer instanceof SvcError) throw answer
      return answer
    },
    withdraw: async (id) => void told.push(`withdrawn: ${id}`),
    consume: async (id, digest) => void told.push(`used: ${id} ${digest}`),
    prove: async (_, { allowUnseparated }) => {
      told.push(allowUnseparated ? 'proven' : 'proven, separated')
      return 'apr_1'
    },
    close: async () => undefined,
    ...changes,
  }
  const terms: Terms = {
    backend,
    progress: { ...silent, warn: (text) => void told.push(text) },
    signal: abort.signal,
    nothing: 'nothing was run',
    proof: 'required',
    once: 'always',
    separated: 'any-key',
  }
  return { terms, told, abort }
}
const used = `used: apr_1 ${digestOf({ text: 'Deploy 4.2' })}`

describe('asking', () => {
  test('proves an approval, rechecks what would be done, and uses the approval up', async () => {
    const { terms, told } = playing([approved])
    const recheck = (): void => void told.push('rechecked')
    expect((await ask(wanted, who, { ...terms, separated: {}, recheck })).id).toBe('apr_1')
    expect(told).toEqual(['asked: Deploy 4.2', 'proven, separated', 'rechecked', used])
  })

  test('uses no approval if what was approved has changed', async () => {
    const { terms, told } = playing([approved])
    const changed = { ...terms, recheck: () => Promise.reject(new Error('changed')) }
    await expect(ask(wanted, who, changed)).rejects.toThrow('changed')
    expect(told).toEqual(['asked: Deploy 4.2', 'proven'])
  })

  test.each([
    ['denied', []],
    ['expired', []],
    ['pending', ['withdrawn: apr_1', 'The request apr_1 was withdrawn']],
  ] as const)(
    'says what did not happen if the request is %s, and leaves none open',
    async (status, after) => {
      const ended = record({ status, detail: 'Not now' })
      const { terms, told } = playing([ended])
      const error = await failure(ask(wanted, who, { ...terms, most: 0 }))
      expect(error).toMatchObject({
        code: status,
        exit: status,
        message: `Not approved (${status}): nothing was run`,
        detail: 'Not now',
        record: ended,
      })
      expect(told).toEqual(['asked: Deploy 4.2', ...after])
    },
  )

  test('notifies nobody if the key can influence who approves, whatever else it can do', async () => {
    for (const scopes of [['people'], ['ask', 'rules'], ['ask', 'devices'], ['keys']]) {
      const { terms, told } = playing([])
      const separated = { scopes: async () => scopes, hint: 'svc key create --can ask' }
      const error = await failure(ask(wanted, who, { ...terms, separated }))
      expect(error).toMatchObject({ code: 'not_separated', hint: 'svc key create --can ask' })
      expect(told).toEqual([])
    }
  })

  test('lets the receipt decide about a key that the service does not describe', async () => {
    const { terms, told } = playing([approved])
    await ask(wanted, who, { ...terms, separated: { scopes: async () => undefined } })
    expect(told).toContain('proven, separated')
  })

  test('notifies nobody if the approval could not be used up', async () => {
    const { terms, told } = playing([approved], { consume: undefined, tools: true, local: true })
    expect((await failure(ask(wanted, who, terms))).code).toBe('not_once')
    expect(told).toEqual([])
    await ask(wanted, who, { ...terms, once: 'if-possible' })
    expect(told).toEqual(['asked: Deploy 4.2', 'proven'])
  })

  test('notifies nobody through a tool server elsewhere without an organization', async () => {
    const { terms, told } = playing([], { tools: true })
    expect((await failure(ask(wanted, who, terms))).message).toMatch(/^--org is required/)
    expect(told).toEqual([])
  })

  test.each([
    ['there is no receipt', [record({ status: 'approved' })], {}],
    ['the person did not see the action', [approved], { boundToAction: false }],
  ])('accepts no approval if %s, and withdraws the request', async (_, answers, changes) => {
    const { terms, told } = playing(answers, changes)
    expect((await failure(ask(wanted, who, terms))).code).toBe('not_bound')
    expect(told).toEqual(['asked: Deploy 4.2', 'withdrawn: apr_1', 'The request apr_1 was withdrawn'])
  })

  test('does not say that a tool server withdrew a request, but says that it left one open', async () => {
    const silently = playing([unproven], { tools: true, local: true })
    expect((await failure(ask(wanted, who, { ...silently.terms, once: 'never' }))).code).toBe('not_bound')
    expect(silently.told).toEqual(['asked: Deploy 4.2', 'withdrawn: apr_1'])
    const open = new SvcError('refused', 'not_supported', 'The tool server left this request open')
    const changes = { tools: true, local: true, withdraw: () => Promise.reject(open) }
    const left = playing([unproven], changes)
    expect((await failure(ask(wanted, who, { ...left.terms, once: 'never' }))).code).toBe('not_bound')
    expect(left.told.at(-1)).toBe('The request apr_1 could not be withdrawn: the tool server left it open')
  })

  test('says how to withdraw a request that could not be withdrawn', async () => {
    const gone = new SvcError('unreachable', 'connection_refused', 'No connection')
    const { terms, told } = playing([new SvcError('forbidden', 'unauthenticated', 'No such key')], {
      withdraw: () => Promise.reject(gone),
    })
    expect((await failure(ask(wanted, who, terms))).detail).toContain('This is not an approval')
    expect(told.at(-1)).toBe(
      'The request apr_1 could not be withdrawn: svc approve withdraw apr_1 --profile prod',
    )
  })

  test('does nothing after an interruption, even if the approval was used', async () => {
    const { terms, told, abort } = playing([approved])
    const recheck = (): void => abort.abort()
    const error = await failure(ask(wanted, who, { ...terms, recheck }))
    expect(error).toMatchObject({ exit: 'interrupted', message: 'Interrupted; nothing was run' })
    expect(told.at(-1)).toBe(used)
  })

  test('leaves the request open if the approval is only reported, and uses nothing', async () => {
    const { terms, told } = playing([record(), new SvcError('interrupted', 'interrupted', 'Interrupted')])
    const reported: Terms = { ...terms, proof: 'reported', once: 'never' }
    expect((await failure(ask(wanted, who, { ...reported, most: 0 }))).code).toBe('pending')
    expect((await failure(ask(wanted, who, reported))).exit).toBe('interrupted')
    expect(told).toEqual(['asked: Deploy 4.2', 'asked: Deploy 4.2'])
  })

  test('says that the approver may have been notified if the answer was lost, and does not ask again', async () => {
    const lost = new SvcError('unreachable', 'connection_cut', 'The connection ended')
    const { terms, told } = playing([], { request: () => Promise.reject(lost) })
    const error = await failure(ask(wanted, who, terms))
    expect(error.detail).toMatch(/may have been notified/)
    expect(error.hint).toBe('svc approve list --status pending --profile prod')
    expect(told).toEqual([])
  })
})

describe('a request that the service has made', () => {
  test('is awaited until it is approved', async () => {
    const { terms } = playing([record({ status: 'pending' }), approved])
    await expect(awaitHeld('apr_1', terms)).resolves.toBeUndefined()
  })
  test('is not withdrawn after a denial', async () => {
    const { terms, told } = playing([record({ status: 'denied' })])
    expect((await failure(awaitHeld('apr_1', terms))).code).toBe('denied')
    expect(told).toEqual([])
  })
  test('is withdrawn when the wait is interrupted', async () => {
    const { terms, told, abort } = playing([])
    const wait = async (): Promise<never> => {
      abort.abort()
      throw new SvcError('interrupted', 'interrupted', 'Interrupted')
    }
    const backend = { ...terms.backend, wait }
    expect((await failure(awaitHeld('apr_1', { ...terms, backend }))).message).toBe(
      'Interrupted; nothing was run',
    )
    expect(told).toEqual(['withdrawn: apr_1', 'The request apr_1 was withdrawn'])
  })
})
