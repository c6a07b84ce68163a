import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { answerTo } from '../terminal/sample.ts'
import { argvOf, isMeant, operations } from '../terminal/typed-operations.ts'
import { svc } from '../svc.ts'

const key = 'svc_op_1a2b3c4d_key'
const secret = 'a-secret-that-is-long-enough'
const folder = temporaryFolder()
const secretFile = join(folder.path, 'secret.txt')
writeFileSync(secretFile, `${secret}\n`)

let service: FakeHosted
beforeAll(async () => {
  service = await startFakeHosted()
  service.always((request, response) => {
    const operation = Object.values(table as Record<string, Operation>).find((one) => isMeant(one, request))
    const data = operation && answerTo(operation, request)
    json(200, { status: 'success', message: 'Done', data })(request, response)
  })
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

const run = async (argv: string[]): Promise<string> => {
  const env = { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
  const { exit, out, err } = await svc(argv, { cwd: folder.path, env })
  if (exit !== 0) throw new Error(`svc ${argv.join(' ')} exits ${exit}: ${err}`)
  return out
}

const hiding = (text: string): string => text.replaceAll(secret, '***')
const masked = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body ?? null, (name, value: unknown) =>
      /secret|password|token|otp|key|credential/i.test(name) ? '***' : value,
    ),
  )

describe('--dry-run', () => {
  test.each(operations.filter(([, { effect }]) => effect !== 'read'))(
    'prints what svc sends for %s, without its secrets',
    async (_, operation) => {
      const argv = argvOf(operation, secretFile)
      const before = service.seen.length
      const out = await run([...argv, '--dry-run', '-o', 'json'])
      expect(service.seen.slice(before).filter((request) => isMeant(operation, request))).toEqual([])
      expect(out).not.toContain(secret)
      await run(argv)
      const sent = service.seen.slice(before).find((request) => isMeant(operation, request))!
      const shown = JSON.parse(out) as { method: string; url: string; body?: unknown }
      expect([shown.method, shown.url]).toEqual([
        sent.method,
        new URL(hiding(sent.path), service.baseUrl).href,
      ])
      expect(masked(shown.body)).toEqual(masked(JSON.parse(hiding(sent.body || 'null'))))
    },
  )
})
