import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testFallback } from '../../../src/cli/doctor/verify-fallback.ts'
import { openContext, run } from '../../../src/cli/main.ts'
import { json, type Answering } from '../../fake-hosted.ts'
import { failure } from '../../client/hosted.ts'
import { memoryIo } from '../memory-io.ts'
import { folder, installHooks, service, toService } from '../other-service.ts'

installHooks()

const answer = (status: number, body: object): Answering => json(status, body)
const success = answer(200, { status: 'success', message: 'OK' })
const pending = answer(409, { status: 'error', message: 'Nobody has answered' })
const absent = answer(404, { status: 'error', message: 'No such route' })
const file = () => join(folder.path, 'profiles.json')

const start = (...validate: Answering[]): ReturnType<typeof memoryIo> => {
  service.always((request, response) => {
    if (request.path.endsWith('/verify-user')) return success(request, response)
    if (!request.path.endsWith('/validate/global/auth')) return absent(request, response)
    return (validate.length > 1 ? validate.shift()! : validate[0]!)(request, response)
  })
  const profiles = { prod: { base_url: service.baseUrl } }
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
  const { SVC_BASE_URL: _, ...env } = toService()
  return memoryIo({ env, cwd: folder.path })
}
const prod = () => JSON.parse(readFileSync(file(), 'utf8')).profiles.prod
const rung = () => service.seen.filter(({ path }) => path.endsWith('/verify-user')).length
const sleep = async () => undefined
const turnOn = async (io: ReturnType<typeof memoryIo>) => ({
  exit: await run(['profile', 'set', 'verify_fallback=true'], io),
  err: io.err(),
})

describe('svc doctor --verify-fallback', () => {
  test('keeps a proof for this address, with which the profile can turn the fallback on', async () => {
    const io = start(pending, pending, pending, answer(410, { status: 'error' }))
    expect(await turnOn(io)).toEqual({ exit: 2, err: expect.stringContaining('has not tested') })
    await testFallback('+12025550101', { yes: true, sleep }, openContext(io))
    expect(prod()).toMatchObject({ verify_tested_url: service.baseUrl, verify_tested_at: expect.any(String) })
    expect(prod().verify_fallback).toBeUndefined()
    expect((await turnOn(io)).exit).toBe(0)
    expect(prod().verify_fallback).toBe(true)
  })

  test('takes the proof away again where the service fails the next test', async () => {
    const io = start(success)
    const proof = { verify_fallback: true, verify_tested_url: service.baseUrl }
    const profiles = { prod: { base_url: service.baseUrl, ...proof } }
    writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
    const error = await failure(testFallback('+12025550101', { yes: true, sleep }, openContext(io)))
    expect([error.code, error.message]).toEqual(['fallback_unusable', expect.stringContaining('success')])
    expect(prod()).toEqual({ base_url: service.baseUrl })
  })

  test('asks nobody who has not been told, and nobody where there is no phone', async () => {
    const io = start(pending)
    const asked = ['doctor', '--verify-fallback']
    expect(await run([...asked, '+12025550101'], io)).toBe(2)
    expect(io.err()).toContain('--yes says that they do')
    expect(await run([...asked, '2025550101', '--yes'], io)).toBe(2)
    expect(rung()).toBe(0)
  })

  test('asks nobody for an address that is not the profile’s', async () => {
    const io = start(pending)
    const other = ['--base-url', service.baseUrl.replace('127.0.0.1', 'localhost')]
    expect(await run(['doctor', '--verify-fallback', '+12025550101', '--yes', ...other], io)).toBe(2)
    expect(io.err()).toContain('The test counts for the address of the profile prod')
    expect(rung()).toBe(0)
  })

  test('asks nobody through a service that has approvals', async () => {
    const io = start(pending)
    service.always(answer(200, { status: 'success', message: 'Approvals', data: [] }))
    expect(await run(['doctor', '--verify-fallback', '+12025550101', '--yes'], io)).toBe(3)
    expect(rung()).toBe(0)
  })
})

test('svc doctor says whether the fallback that a profile turns on is used', async () => {
  const io = start(pending)
  service.always(undefined)
  const profiles = { prod: { base_url: service.baseUrl, verify_fallback: true } }
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
  await run(['doctor'], io)
  expect(io.out()).toMatch(/^warn +verify fallback +not used: .* was not tested$/m)
})
