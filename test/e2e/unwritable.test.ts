import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { env, folder, installHooks } from './bare-service.ts'
import { svcHere } from './prepare.ts'
import { bin, outcome, startSvc } from './processes.ts'
import { machine } from '../machine.ts'

// Standard output that cannot be written: a full disk, and a reader that has closed its end. A folder that is gone.

installHooks()

const intoFullDisk = async (args: string[]) => {
  const full = openSync('/dev/full', 'w')
  const ended = await outcome(startSvc(args, env, { stdio: ['ignore', full, 'pipe'] }))
  closeSync(full)
  return ended
}

const intoClosedPipe = (args: string[]) => {
  const child = startSvc(args, env)
  child.stdout!.destroy()
  return outcome(child)
}

const named = async (words: string[], name: string): Promise<boolean> => {
  const { stdout } = await svcHere([...words, '-o', 'json'], env)
  return (JSON.parse(stdout) as { name: string }[]).some((row) => row.name === name)
}

/** Like `svc … >&-` in a shell. Node opens /dev/null in its place. */
const intoNothing = (args: string[], redirection = '>&-') =>
  outcome(
    spawn('sh', ['-c', `"$@" ${redirection}`, 'sh', process.execPath, bin, ...args], {
      env: { ...machine, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )

describe.runIf(existsSync('/proc/self/fdinfo/1'))('closed standard output', () => {
  test('loses a new key, and svc says so', async () => {
    const { exit, stderr } = await intoNothing(['key', 'create', '--can', 'ask', '--name', 'closed'])
    expect(exit).toBe(11)
    expect(stderr).toContain('standard output is closed')
    expect(stderr).toContain('The secret in it is lost')
    expect(stderr).not.toMatch(/svc_op_[0-9a-f]{8}_/)
  })

  test('loses the operator key of a first start, and svc says so', async () => {
    const serve = ['serve', '--no-profile', '--port', '0', '--data-dir', `${folder.path}/closed`]
    const { exit, stderr } = await intoNothing(serve)
    expect([exit, stderr]).toEqual([11, expect.stringContaining('The operator key is lost')])
  })

  test('is no error for a command without a secret, and neither is an explicit /dev/null', async () => {
    expect(await intoNothing(['org', 'list'])).toMatchObject({ exit: 0, stderr: '' })
    expect(await intoNothing(['org', 'create', '--name', 'Closed'])).toMatchObject({ exit: 0 })
    const thrownAway = ['key', 'create', '--can', 'ask', '--name', 'thrown-away']
    expect(await intoNothing(thrownAway, '>/dev/null')).toMatchObject({ exit: 0 })
  })
})

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  test.each([['org', 'list', '-o', 'json'], ['--help']])('fails a read: %s', async (...args) => {
    expect(await intoFullDisk(args)).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('standard output cannot be written (ENOSPC)'),
    })
  })

  test('does not make a write look like one that failed', async () => {
    const { exit, stderr } = await intoFullDisk(['org', 'create', '--name', 'Full', '--slug', 'full'])
    expect(exit).toBe(11)
    expect(stderr).toContain('svc org create was carried out, but its answer could not be shown')
    expect(await named(['org', 'list'], 'Full')).toBe(true)
  })

  test('loses the operator key of a first start, and svc prints how to create a new one', async () => {
    const dataDir = `${folder.path}/first`
    const serve = ['serve', '--no-profile', '-o', 'json', '--port', '0', '--data-dir', dataDir]
    const { exit, stderr } = await intoFullDisk(serve)
    expect(exit).toBe(11)
    expect(stderr).toContain('"code":"not_shown"')
    expect(stderr).toContain(
      `The operator key is lost. Create a new one: svc service reset-operator-key --data-dir ${dataDir}`,
    )
    expect(stderr).not.toMatch(/svc_op_/)
  })

  test('loses a new key, and svc does not write it to the log', async () => {
    const { exit, stderr } = await intoFullDisk(['key', 'create', '--can', 'all', '--name', 'full'])
    expect(exit).toBe(11)
    expect(stderr).toContain('The secret in it is lost')
    expect(stderr).not.toMatch(/svc_op_[0-9a-f]{8}_/)
    expect(await named(['key', 'list'], 'full')).toBe(true)
  })
})

describe('a closed reader', () => {
  test('is no error for a read or for a write without a secret', async () => {
    for (const read of [
      ['org', 'list', '-o', 'json'],
      ['org', '--help'],
    ])
      expect(await intoClosedPipe(read)).toMatchObject({ exit: 0, stderr: '' })
    expect(await intoClosedPipe(['org', 'create', '--name', 'Gone', '-o', 'json'])).toMatchObject({
      exit: 0,
      stderr: '',
    })
    expect(await named(['org', 'list'], 'Gone')).toBe(true)
  })

  test('loses a new key, and svc says so', async () => {
    const { exit, stderr } = await intoClosedPipe(['key', 'create', '--can', 'all', '--name', 'gone'])
    expect(exit).toBe(11)
    expect(stderr).toContain('svc key create was carried out')
  })
})

test('says so in a folder that was deleted', async () => {
  const gone = join(folder.path, 'gone')
  mkdirSync(gone)
  const ended = await outcome(
    spawn(
      'sh',
      ['-c', 'cd "$1" && rmdir "$1" && exec "$2" "$3" org list', 'sh', gone, process.execPath, bin],
      {
        env: { ...machine, ...env },
      },
    ),
  )
  expect([ended.exit, ended.stderr]).toEqual([
    1,
    'svc: the current folder was deleted\nhint: run it in another folder\n',
  ])
})
