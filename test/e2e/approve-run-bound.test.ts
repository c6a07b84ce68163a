import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { svc } from './processes.ts'
import {
  requestLine,
  begin,
  decide,
  env,
  installHooks,
  nodeScript,
  ok,
  operator,
  path,
  people,
  shellScript as script,
} from './approvals.ts'
import { svcHere } from './prepare.ts'

installHooks()

const run = (...more: string[]) => begin(['approve', 'run', ...more])
const record = async (id: string) => JSON.parse(await ok(['approve', 'status', id, '-o', 'json']))
const keyThatCan = async (scopes: string): Promise<string> => {
  const created = await ok([
    'key',
    'create',
    '--name',
    `${scopes} ${people}`,
    '--org',
    'acme',
    '--can',
    scopes,
    '--jq',
    '.key',
  ])
  return /svc_org_[\w-]+/.exec(created)![0]
}

describe('the command that an approval covers', () => {
  test('is shown to the approver, signed, and used once', async () => {
    const file = script('deploy.sh', 'deployed')
    const running = run('--', file, '4.2')
    const id = (await running.printed(requestLine))[1]!
    const { subject, action } = await record(id)
    const sha256 = createHash('sha256').update('#!/bin/sh\necho deployed "$@"\n').digest('hex')
    expect(subject).toMatchObject({
      type: 'command',
      data: { argv: [file, '4.2'], executable: { path: file, sha256 }, cwd: process.cwd() },
      summary: `Run ${file} 4.2`,
    })
    expect(action).toBe(subject.summary)
    await decide('approve', id)
    expect(await running.ended).toMatchObject({ exit: 0, stdout: 'deployed 4.2\n' })
    const after = await record(id)
    expect(after.used_at).not.toBeNull()
    const again = await svcHere(['approve', 'consume', id, '--digest', subject.digest], env)
    expect(again).toMatchObject({ exit: 3, stderr: expect.stringContaining('already used') })
    const other = await svcHere(['approve', 'consume', id, '--digest', 'ab'.repeat(32)], env)
    expect(other).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('does not match the approved subject'),
    })
  })

  test.each([
    ['the program', () => [script('swap.sh', 'good')], 'swap.sh'],
    ['a file in the arguments', () => ['/bin/cat', script('plan.txt', 'good')], 'plan.txt'],
  ])(
    'does not run when %s changed after the request, and the approval stays unused',
    async (_, command, name) => {
      const running = run('--', ...command())
      const id = (await running.printed(requestLine))[1]!
      script(name, 'evil')
      await decide('approve', id)
      const { exit, stdout, stderr } = await running.ended
      expect({ exit, stdout }).toEqual({ exit: 101, stdout: '' })
      expect(stderr).toContain(`${path(name)} is not what was approved`)
      expect(await record(id)).toMatchObject({ status: 'approved', used_at: null })
    },
  )

  test.each([
    ['did not exist', () => {}, 'did not exist at the time of the request'],
    ['was a directory', (file: string) => mkdirSync(file), 'was replaced or removed after the request'],
  ])(
    'does not run when a script %s at the time of the request, and the approval stays unused',
    async (_, before, detail) => {
      const file = path(`later-${people}.sh`)
      before(file)
      const running = run('--', '/bin/sh', file)
      const id = (await running.printed(requestLine))[1]!
      rmSync(file, { recursive: true, force: true })
      writeFileSync(file, 'echo evil\n')
      await decide('approve', id)
      const { exit, stdout, stderr } = await running.ended
      expect({ exit, stdout }).toEqual({ exit: 101, stdout: '' })
      expect(stderr).toContain(`${file} is not what was approved: nothing was run`)
      expect(stderr).toContain(`It ${detail}. The approval was not used.`)
      expect(await record(id)).toMatchObject({ status: 'approved', used_at: null })
    },
  )

  test('does not run in another folder to which the name of its folder leads by now', async () => {
    const folder = path(`sandbox-${people}`)
    for (const name of [folder, `${folder}-prod`]) mkdirSync(name)
    const running = begin(['approve', 'run', '--', '/bin/pwd'], {}, folder)
    const id = (await running.printed(requestLine))[1]!
    renameSync(folder, `${folder}-before`)
    symlinkSync(`${folder}-prod`, folder)
    await decide('approve', id)
    const { exit, stdout, stderr } = await running.ended
    expect({ exit, stdout }).toEqual({ exit: 101, stdout: '' })
    expect(stderr).toContain(`${folder} is not this folder any more: nothing was run`)
    expect(await record(id)).toMatchObject({ status: 'approved', used_at: null })
  })

  test('does not cover the content of a folder, and svc says so before it requests approval', async () => {
    const folder = path(`app-${people}`)
    mkdirSync(folder)
    const running = run('--', '/bin/ls', folder)
    const { 1: id = '', index, input } = await running.printed(requestLine)
    expect(input.slice(0, index)).toContain(`The content of ${folder} is not bound: it is a folder`)
    // Nobody approved the content of the folder, so a change in it does not stop the command.
    writeFileSync(`${folder}/new`, '')
    await decide('approve', id)
    expect(await running.ended).toMatchObject({ exit: 0, stdout: 'new\n' })
  })

  test('may have the receipt file that svc creates as an argument', async () => {
    const kept = path(`receipt-${people}.json`)
    const running = run('--receipt', kept, '--', '/bin/cat', kept)
    const id = (await running.printed(requestLine))[1]!
    await decide('approve', id)
    const { exit, stdout } = await running.ended
    expect({ exit, id: JSON.parse(stdout).claims.jti }).toEqual({ exit: 0, id })
  })

  test('is copied for --bind, so that a change of the original has no effect', async () => {
    const file = script('bound.sh', 'good')
    const data = script('data.txt', 'good')
    const running = run('--bind', file, '--bind', data, '--', file, data)
    const id = (await running.printed(requestLine))[1]!
    script('bound.sh', 'evil')
    script('data.txt', 'evil')
    await decide('approve', id)
    const { exit, stdout } = await running.ended
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^good .*data\.txt\n$/)
    expect(stdout).not.toContain(`${data}\n`)
    expect((await record(id)).subject.data.files).toHaveLength(1)
    expect(
      readdirSync(tmpdir()).filter(
        (one) => one.startsWith('svc-approval-') && existsSync(`${tmpdir()}/${one}/bound`),
      ),
    ).toEqual([])
  })
})

describe('the environment of a command', () => {
  test('contains no credentials of svc and only the variables that were passed', async () => {
    const secrets = {
      MCP_AUTH_TOKEN: 'x'.repeat(40),
      SVC_MASTER_KEY: 'y',
      LD_PRELOAD_X: 'z',
      STAGE: 'prod',
      MORE: 'm',
    }
    const print = nodeScript('console.log(JSON.stringify(process.env))')
    const running = begin(['approve', 'run', '--env', 'STAGE', '--env', 'COLOUR=blue', '--', print], secrets)
    const id = (await running.printed(requestLine))[1]!
    const { environment } = (await record(id)).subject.data
    expect(environment).toEqual({
      passed: expect.arrayContaining(['PATH', 'STAGE']),
      set: { COLOUR: 'blue' },
    })
    await decide('approve', id)
    const { stdout } = await running.ended
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({ PATH: process.env.PATH, STAGE: 'prod', COLOUR: 'blue', SVC_APPROVAL_ID: id })
    const own = Object.keys(seen).filter((name) => /^(?:SVC_|MCP_)/.test(name))
    expect(own.toSorted()).toEqual(['SVC_APPROVAL_ID', 'SVC_APPROVAL_RECEIPT'])
    expect(seen).not.toHaveProperty('MORE')
    expect(stdout).not.toContain(operator)
  })

  test('cannot receive a credential by name, and no approval is requested', async () => {
    for (const name of ['SVC_API_KEY', 'MCP_AUTH_TOKEN=x', 'SVC_MASTER_KEY']) {
      const { exit, stderr } = await svc(['approve', 'run', '--env', name, '--', 'true'], env)
      expect({ exit, stderr }).toEqual({
        exit: 102,
        stderr: expect.stringContaining('is a credential or setting of svc'),
      })
    }
    expect(await ok(['approve', 'list', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id'])).toBe('')
  })
})

describe('a key that can influence who approves', () => {
  test.each(['ask,people', 'all'])(
    'requests no approval with the scopes %s, and svc prints how to create one that only asks',
    async (scopes) => {
      const asking = { ...env, SVC_ASK_KEY: await keyThatCan(scopes) }
      const { exit, stderr } = await svc(['approve', 'run', '--', 'true'], asking)
      expect(exit).toBe(102)
      expect(stderr).toMatch(/can influence who approves \(.*people.*\): no request was sent/)
      expect(stderr).toContain('svc key create --name ask --can ask --org acme')
      expect(await ok(['approve', 'list', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id'])).toBe('')
    },
  )
})
