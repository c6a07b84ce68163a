import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testFallback } from '../../../src/cli/doctor/verify-fallback.ts'
import { openContext } from '../../../src/cli/main.ts'
import { json, type Answering } from '../../fake-hosted.ts'
import { failure } from '../../client/hosted.ts'
import { memoryIo, type MemoryOptions } from '../memory-io.ts'
import { svc } from '../svc.ts'
import { folder, installHooks, service, toService } from '../other-service.ts'

installHooks()

const answer = (status: number, body: object): Answering => json(status, body)
const success = answer(200, { status: 'success', message: 'OK' })
const pending = answer(409, { status: 'error', message: 'Nobody has answered' })
const absent = answer(404, { status: 'error', message: 'No such route' })
const file = () => join(folder.path, 'profiles.json')

const start = (...validate: Answering[]): MemoryOptions => {
  service.always((request, response) => {
    if (request.path.endsWith('/verify-user')) return success(request, response)
    if (!request.path.endsWith('/validate/global/auth')) return absent(request, response)
    return (validate.length > 1 ? validate.shift()! : validate[0]!)(request, response)
  })
  const profiles = { prod: { base_url: service.baseUrl } }
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
  const { SVC_BASE_URL: _, ...env } = toService()
  return { env, cwd: folder.path }
}
const prod = () => JSON.parse(readFileSync(file(), 'utf8')).profiles.prod
const prompts = () => service.seen.filter(({ path }) => path.endsWith('/verify-user')).length
const sleep = async () => undefined
const turnOn = (options: MemoryOptions) => svc('profile set verify_fallback=true', options)
const runTest = (options: MemoryOptions) =>
  testFallback('+12025550101', { yes: true, sleep }, openContext(memoryIo(options)))

/** Runs doctor with the test of the fallback. */
const doctor = (words: string, options: MemoryOptions) => svc(`doctor --verify-fallback ${words}`, options)

describe('svc doctor --verify-fallback', () => {
  test('stores a proof for this address, which lets the profile turn the fallback on', async () => {
    const options = start(pending, pending, pending, answer(410, { status: 'error' }))
    expect(await turnOn(options)).toMatchObject({ exit: 2, err: expect.stringContaining('has not tested') })
    await runTest(options)
    expect(prod()).toMatchObject({ verify_tested_url: service.baseUrl, verify_tested_at: expect.any(String) })
    expect(prod().verify_fallback).toBeUndefined()
    expect((await turnOn(options)).exit).toBe(0)
    expect(prod().verify_fallback).toBe(true)
  })

  test('deletes the proof when the service fails the next test', async () => {
    const options = start(success)
    const proof = { verify_fallback: true, verify_tested_url: service.baseUrl }
    const profiles = { prod: { base_url: service.baseUrl, ...proof } }
    writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
    const error = await failure(runTest(options))
    expect([error.code, error.message]).toEqual(['fallback_unusable', expect.stringContaining('success')])
    expect(prod()).toEqual({ base_url: service.baseUrl })
  })

  test('prompts nobody without --yes or without a phone number', async () => {
    const options = start(pending)
    const { exit, err } = await doctor('+12025550101', options)
    expect(exit).toBe(2)
    expect(err).toContain('--yes confirms that they do')
    expect((await doctor('2025550101 --yes', options)).exit).toBe(2)
    expect(prompts()).toBe(0)
  })

  test('prompts nobody when the address is not that of the profile', async () => {
    const options = start(pending)
    const other = service.baseUrl.replace('127.0.0.1', 'localhost')
    const { exit, err } = await doctor(`+12025550101 --yes --base-url ${other}`, options)
    expect(exit).toBe(2)
    expect(err).toContain('The test requires the address of the profile prod')
    expect(prompts()).toBe(0)
  })

  test('prompts nobody through a service that has approvals', async () => {
    const options = start(pending)
    service.always(answer(200, { status: 'success', message: 'Approvals', data: [] }))
    expect((await doctor('+12025550101 --yes', options)).exit).toBe(3)
    expect(prompts()).toBe(0)
  })
})

test('svc doctor reports whether the fallback that a profile turns on is used', async () => {
  const options = start(pending)
  service.always(undefined)
  const profiles = { prod: { base_url: service.baseUrl, verify_fallback: true } }
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'prod', profiles }), { mode: 0o600 })
  const { out } = await svc('doctor', options)
  expect(out).toMatch(/^warn +verify fallback +not used: .* was not tested$/m)
})
