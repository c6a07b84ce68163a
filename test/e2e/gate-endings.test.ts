import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decide } from '../service/approver.ts'
import { exists, gone } from './gate-client.ts'
import { ada, installHooks, operator, path, requests, service, startGate } from './gate-run.ts'
import { remote } from './person.ts'

installHooks()

const write = { path: '/srv/a', text: 'one' }

describe('when a part ends', () => {
  test('withdraws the request, and ends the server with all its processes, when the client closes the input', async () => {
    const gate = await startGate({ env: { PIDS: path('pids-1'), STUBBORN: '1' } })
    gate.call(1, 'write_file', write)
    const id = await ada.waitForRequest()
    const pids = readFileSync(path('pids-1'), 'utf8').trim().split(' ').map(Number)
    expect(pids.map(exists)).toEqual([true, true])
    expect((await gate.close()).exit).toBe(0)
    expect(pids.map(exists)).toEqual([false, false])
    expect((await ada.requests('expired')).map((one) => one.request_id)).toEqual([id])
    expect(gate.done()).toEqual([])
  })

  test('leaves no process of the server behind when the gate is killed', async () => {
    const gate = await startGate({ env: { PIDS: path('pids-2'), STUBBORN: '1' } })
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    const pids = readFileSync(path('pids-2'), 'utf8').trim().split(' ').map(Number)
    gate.child.kill('SIGKILL')
    await gate.ended
    await Promise.all(pids.map(gone))
    await ada.answer()
    expect(gate.done()).toEqual([])
  })

  test('says that the outcome is unknown when the server ends in the middle of a call', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    gate.call(2, 'die')
    await expect.poll(async () => ada.requests('pending')).toHaveLength(2)
    const pending = await requests('pending')
    const dying = pending.find(({ action }) => action === 'Call die on files')
    await decide(remote(service.baseUrl, operator), dying.request_id, ada.key, { decision: 'approve' })
    expect((await gate.answer(2)).result.content[0].text).toContain(
      'It is not known whether the call was carried out',
    )
    expect((await gate.answer(1)).result.content[0].text).toContain('the server has ended')
    const { exit, stderr } = await gate.ended
    expect([exit, stderr]).toEqual([1, expect.stringContaining('The server ended with exit code 3')])
    expect(gate.done().map(({ tool }) => tool)).toEqual(['die'])
    expect(await ada.requests('pending')).toEqual([])
  })

  test('refuses calls while the service cannot be reached, and passes the others', async () => {
    const gate = await startGate({
      flags: ['--base-url', 'http://127.0.0.1:9/admin/public/api', '--key-file', path('ask.key')],
    })
    gate.call(1, 'write_file', write)
    gate.call(2, 'read_file')
    expect((await gate.answer(2)).result.content[0].text).toBe('content')
    expect((await gate.answer(1)).result.content[0].text).toContain('svc could not get it')
    expect(gate.done().map(({ tool }) => tool)).toEqual(['read_file'])
    await gate.close()
  })
})
