import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionScript } from '../../src/cli/completion/script.ts'

// The generated scripts, loaded and exercised in the real shells.

const kept = (name: string): string =>
  fileURLToPath(new URL(`../../completions/svc.${name}`, import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-completions-'))
  writeFileSync(join(folder, 'body.json'), '{}')
  writeFileSync(join(folder, 'two words.json'), '{}')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const output = (command: string, args: string[]): string[] => {
  const text = execFileSync(command, args, { cwd: folder, encoding: 'utf8', timeout: 30_000 })
  return text.split('\n').filter((line) => line !== '')
}

const bashRun = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`

/** What the shell offers at the end of a line, by name. */
const shells: Record<'bash' | 'zsh' | 'fish', (script: string, line: string) => string[]> = {
  bash: (script, line) =>
    output('bash', ['--norc', '-c', bashRun, '_', script, ...line.split(/(?<=\S) |(?<==)|(?==)/)]),
  zsh: (script, line) => output('zsh', ['-f', join(here, 'capture.zsh'), script, line]),
  fish: (script, line) =>
    output('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line]).map(
      (offer) => offer.split('\t')[0]!,
    ),
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (name) => {
  const complete = (line: string): string[] => shells[name](kept(name), line)

  test.each([
    ['svc user pending ', ['accept', 'hold', 'list', 'reject']],
    ['svc org auth-code u', ['update']],
    ['svc --profile acme -o json key r', ['revoke', 'rotate']],
    ['svc user list --state ', ['active', 'pending', 'rejected', 'removed']],
    ['svc org create --factors b', ['biometric']],
    ['svc org list -o n', ['ndjson']],
    ['svc org list --output y', ['yaml']],
    ['svc geofence create --la', ['--latitude']],
    ['svc geofence create --deb', ['--debug']],
    ['svc completion ', ['bash', 'fish', 'powershell', 'zsh']],
    ['svc org create --input bo', ['body.json']],
    ['svc service restore bo', ['body.json']],
    ['svc org create --name ', []],
    ['svc org get ', []],
  ])('offers after "%s" just what goes there', (line, expected) => {
    expect(complete(line).toSorted()).toEqual(expected)
  })

  test('offers all groups after the name of the program', () => {
    expect(complete('svc ')).toEqual(
      expect.arrayContaining([
        'org',
        'user',
        'geofence',
        'timeslot',
        'key',
        'profile',
        'serve',
        'completion',
      ]),
    )
  })

  test('offers the flags of a command and those of every command after a dash', () => {
    const offered = complete('svc org create --')
    expect(offered).toEqual(expect.arrayContaining(['--slug', '--dry-run', '--output', '--help']))
    expect(offered).not.toContain('--latitude')
  })

  test('offers a value after an equals sign', () => {
    expect(complete('svc org list --output=ndj').map((offer) => offer.replace('--output=', ''))).toEqual([
      'ndjson',
    ])
  })

  test('offers a file whose name has a space as one', () => {
    expect(complete('svc org create --input two')).toHaveLength(1)
  })

  test('runs nothing that stands in a description', () => {
    const about = `it's $(touch run) \`touch run\` "\\' ; touch run ; ' %s:x`
    const flag = { flags: '--loud <word>', about, takesValue: true, choices: ['very'] }
    const child = { name: 'sing', about, usage: '', args: [], flags: [flag], after: '', commands: [] }
    const tree = { name: 'svc', about, usage: '', args: [], flags: [], after: '', commands: [child] }
    const file = join(folder, `hostile.${name}`)
    writeFileSync(file, completionScript(name, tree))
    expect(shells[name](file, 'svc s')).toEqual(['sing'])
    expect(shells[name](file, 'svc sing --lo')).toEqual(['--loud'])
    expect(shells[name](file, 'svc sing --loud ')).toEqual(['very'])
    expect(existsSync(join(folder, 'run'))).toBe(false)
  })
})
