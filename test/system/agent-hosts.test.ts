import { spawn, type ChildProcess } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { outcome } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { findProgram } from './find-program.ts'
import { installHooks, stage } from './open-stage.ts'

// Real agents that know nothing but the address of the tools. They are large and not in package.json: an agent is tested if its
// program is in the PATH.

installHooks({ env: { MCP_AUTH_TOKEN: 'the-bearer-of-the-operator-32-characters' } })

type Agent = {
  /** Commands before the one that prints the address of the consent. */
  first: string[][]
  connect: string[]
  list: RegExp
  name: RegExp
}

const agents: Record<string, (url: string) => Agent> = {
  claude: (url) => ({
    first: [['mcp', 'add', '--transport', 'http', 'svc', url]],
    connect: ['mcp', 'login', '--no-browser', 'svc'],
    list: /svc: .* Connected/,
    name: /^Claude Code/,
  }),
  codex: (url) => ({
    first: [],
    connect: ['mcp', 'add', 'svc', '--url', url],
    list: /svc .*OAuth/,
    name: /^Codex/,
  }),
}

/** The address that a program prints on its terminal. */
const addressFrom = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [address] = /http:[!-~]*\/authorize\?[!-~]+(?=[^!-~])/.exec(text) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('exit', () => reject(new Error(`No address: ${text}`)))
  })

const found = Object.keys(agents).filter((name) => findProgram(name) !== undefined)

describe.runIf(found.length > 0)('the address alone', () => {
  test.each(found)('is enough for the real %s', async (program) => {
    const home = temporaryFolder()
    onTestFinished(() => home.remove())
    const { first, connect, list, name } = agents[program]!(stage.toolsUrl)
    const env = { PATH: process.env.PATH, HOME: home.path, TERM: 'xterm', SHELL: '/bin/sh' }
    const run = (args: string[]) =>
      outcome(spawn(program, args, { cwd: home.path, env, stdio: ['ignore', 'pipe', 'pipe'] }))
    for (const args of first) expect(await run(args)).toMatchObject({ exit: 0 })
    const phone = await stage.enrolled(await stage.person())
    const line = [program, ...connect].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: home.path, env })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = outcome(child)
    await phone.page.goto(await addressFrom(child))
    await phone.sees('Allow this access?')
    await phone.tap('Allow')
    expect(await ended).toMatchObject({ exit: 0 })
    const connected = dataOf(await stage.service.call('GET', '/svc/v1/keys', { key: stage.org.key }))
    expect(connected).toContainEqual(expect.objectContaining({ client_name: expect.stringMatching(name) }))
    expect((await run(['mcp', 'list'])).stdout).toMatch(list)
  })
})
