import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { planRequest } from '../../../src/client/request.ts'
import { type OperationId, table } from '../../../src/contract/table.ts'
import { prepare, type Handler } from '../../../src/service/call/call.ts'
import { createAttempt } from '../../../src/service/call/run.ts'
import { handlers } from '../../../src/service/handlers/all.ts'
import { Refusal } from '../../../src/core/refusal.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { contentsOf, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { settle, type Holding } from '../tenant-holding.ts'
import {
  all,
  ids,
  isForOperators,
  namesOrganization,
  secretRefused,
  signed,
  takesChild,
  takesOther,
} from '../tenant-operations.ts'
import { inputs } from '../tenant-inputs.ts'
import { allScopes } from '../all-scopes.ts'

const ask = (service: TestService, id: OperationId, input: object, key?: string | null) => {
  const { method, url, body } = planRequest('http://x', table[id], input as Record<string, unknown>)
  const { pathname, search } = new URL(url)
  return service.call(method, pathname + search, { key, body })
}

let service: TestService
/** What the store contains, until something changes it. */
let contents: Record<string, unknown[]> | undefined
let acme: Holding & { key: string }
let foreign: Holding & { key: string }
const open = async () => {
  service = await startTestService({ dev: true })
  acme = await settle(service, 'acme', 10)
  foreign = await settle(service, 'foreign', 20)
}

test('every operation of the table is asked', () => {
  expect(all.toSorted()).toEqual(Object.keys(table).toSorted())
  expect(ids.filter(takesChild).length).toBeGreaterThan(20)
})

/** Whether something has changed since the last time, or since the service was filled. */
const hasChanged = async (): Promise<boolean> => {
  const before = contents
  contents = await contentsOf(service)
  return !isDeepStrictEqual(contents, before)
}

const attempt = async (id: OperationId, input: object, key: string | null) => {
  const said = refusal(await ask(service, id, input, key))
  return { said, changed: await hasChanged() }
}
const absent = (id: OperationId) => ({
  said: [...(secretRefused[id] ?? [404, 'not_found']), []],
  changed: false,
})

describe('a key of an organization, refused without a trace', () => {
  beforeAll(async () => {
    await open()
    contents = await contentsOf(service)
  })
  afterAll(() => service.close())

  test.each(ids.filter((id) => takesOther(id) && !isForOperators(id)))(
    "finds nothing of another's with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](foreign, foreign), acme.key)).toEqual(absent(id))
    },
  )

  // Bypasses the wall of the routes, to test the one in each statement.
  test.each(ids.filter((id) => takesOther(id) && !isForOperators(id)))(
    "finds nothing of another's in the handler of %s",
    async (id) => {
      const caller = { keyId: 2, name: 'acme', orgId: acme.org, scopes: allScopes }
      const work = prepare(handlers[id] as Handler<object, unknown>, inputs[id](foreign, foreign), {
        service: service.service,
        caller,
      })
      await work.catch(() => undefined)
      const answered = service.storage.write(
        async (db) => {
          const request = { action: id, caller, requestId: 'req_1', fieldNames: [] }
          const { call } = createAttempt(service.service, request, { db, now: service.storage.now() })
          const data = await (await work)(call)
          if (data instanceof Refusal) throw data
          // What should not have been done is undone, so that the next operation finds it all there.
          throw new Error('answered')
        },
        { org: 0 },
      )
      const [status, code] = secretRefused[id] ?? [404, 'not_found']
      await expect(answered).rejects.toMatchObject({ status, code })
      expect(await hasChanged()).toBe(false)
    },
  )

  test.each(ids.filter((id) => takesChild(id) && !isForOperators(id)))(
    "finds no child of another's in its own organization with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](acme, foreign), acme.key)).toEqual(absent(id))
    },
  )

  test.each(ids.filter((id) => takesChild(id) && namesOrganization(id) && !isForOperators(id)))(
    "does not reach its own child by another's organization with %s",
    async (id) => {
      expect(await attempt(id, inputs[id](foreign, acme), acme.key)).toEqual(absent(id))
    },
  )

  test.each(ids.filter(isForOperators))('may not %s', async (id) => {
    expect(await attempt(id, inputs[id](acme, acme), acme.key)).toEqual({
      said: [403, 'operator_only', []],
      changed: false,
    })
  })

  test.each(ids)('is asked for with %s', async (id) => {
    expect(await attempt(id, inputs[id](acme, acme), null)).toEqual({
      said: [401, 'unauthenticated', []],
      changed: false,
    })
  })
})

describe('a key of an organization, at home', () => {
  const folder = temporaryFolder()
  const from = join(folder.path, 'svc.db')
  beforeAll(async () => {
    await open()
    await service.close(from)
  })
  beforeEach(async () => {
    service = await startTestService({ dev: true, from })
  })
  afterEach(() => service.close())
  afterAll(() => folder.remove())

  test.each(ids.filter((id) => !isForOperators(id) && !(id in signed)))('may %s', async (id) => {
    const answer = await ask(service, id, inputs[id](acme, acme), acme.key)
    dataOf(answer)
    expect(JSON.stringify(answer.body)).not.toContain('foreign')
  })

  test.each(ids.filter((id) => id in signed))('may not %s alone', async (id) => {
    const answer = await ask(service, id, inputs[id](acme, acme), acme.key)
    expect(refusal(answer)).toEqual([...signed[id]!, []])
  })
})
