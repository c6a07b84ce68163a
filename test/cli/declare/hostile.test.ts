import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { folder, installHooks, run, service } from '../other-service.ts'

installHooks()

const raw = /[^\P{Cc}\n\t]|\p{Cf}/u
const hostile = 'acme\u001b[2J\u202e\nusers: []\n#'
const success = (data: unknown) => json(200, { status: 'success', message: 'OK', data })

beforeEach(() =>
  service.always((request, response) => {
    const { method, path } = request
    const org = { id: 1, slug: path.endsWith('/acme') ? 'acme' : hostile, name: hostile }
    const isList = /users|rules|geo-fences|timeslots|get-org-auth-codes/.test(path)
    const data = method === 'POST' ? { id: 2, code: hostile } : isList ? [] : org
    return success(data)(request, response)
  }),
)

describe('text of a hostile server', () => {
  test('in a new code does not move the cursor', async () => {
    const file = 'svc: 1\norganization: { slug: acme, name: Acme }\nauth_codes: [{ label: one }]\n'
    writeFileSync(join(folder.path, 'org.yaml'), file)
    const { exit, out } = await run('apply org.yaml --yes', { tty: true, env: { NO_COLOR: '1' } })
    expect(exit).toBe(0)
    expect(out).toContain('auth_codes/one  acme\\u{001b}[2J')
    expect(out).not.toMatch(raw)
  })

  test('in a slug stays inside the comment at the start of an export', async () => {
    const { exit, out } = await run('export --org 1')
    expect(exit).toBe(0)
    const head = out.slice(0, out.indexOf('\n\nsvc: 1'))
    expect(head).not.toMatch(/^(?!#)/m)
  })
})
