import { usageError } from '../../../core/errors.ts'
import { safeLine } from '../../../core/safe-text.ts'
import type { Context } from '../../context/context.ts'
import { many } from '../../operation/flags.ts'
import { looksSecret } from '../../../core/secret-name.ts'
import { defineCommand } from '../../program/define-command.ts'
import { readBytes, textOf } from '../../terminal/input-file.ts'
import { pickingFlag } from '../../terminal/output.ts'
import { fitted } from '../../terminal/wrap.ts'
import type { Rules } from './rules.ts'
import type { OnMessage, Upstream } from './upstream.ts'

type Options = {
  rules?: string
  url?: string
  headerFile?: string
  serverCacert?: string
  env?: string[]
  check?: boolean
}

const example = 'svc mcp gate --rules gate.yaml -- node /opt/notes/server.mjs'

type Open = (onMessage: OnMessage) => Upstream

/** How to reach the server. Throws a usage error before anything is started. */
const chooseServer = async (
  command: readonly string[],
  { url, headerFile, serverCacert, env = [] }: Options,
  { context, note }: { context: Context; note(text: string): void },
): Promise<Open> => {
  const { io } = context
  const [name, ...args] = command
  if (headerFile !== undefined && url === undefined)
    throw usageError('--header-file is only for --url', 'Use --env NAME')
  if (serverCacert !== undefined && !url?.startsWith('https:'))
    throw usageError('--server-cacert is only for --url with https://', '--url https://mcp.example.com/mcp')
  if ((name === undefined) === (url === undefined))
    throw usageError('Name one server: a command after --, or its address with --url', example)
  if (url !== undefined) {
    if (env.length > 0)
      throw usageError('--env is only for a server that svc starts', 'Use --header-file FILE')
    const { checkUpstreamUrl, readHeaders, reachServer } = await import('./http-upstream.ts')
    const { readCa } = await import('../../context/open-client.ts')
    const reaching = {
      url: checkUpstreamUrl(url),
      headers: headerFile === undefined ? {} : readHeaders(headerFile),
      ca: serverCacert === undefined ? undefined : readCa(serverCacert, '--server-cacert'),
      note,
    }
    return (onMessage) => reachServer(reaching, onMessage)
  }
  const secret = env
    .map((one) => one.split('='))
    .find(([variable, value]) => value !== undefined && looksSecret(variable!))
  if (secret)
    throw usageError(
      `--env: the value of ${secret[0]} must not be an argument, where other programs can read it`,
      `Set it in the environment of svc, and pass only its name: --env ${secret[0]}`,
    )
  const { childEnvironment, findCommand } = await import('../../approve/child.ts')
  const { startChild } = await import('./child-upstream.ts')
  const { mostBytes } = await import('./serve-gate.ts')
  const starting = {
    file: findCommand(name!, io),
    args,
    env: childEnvironment(io.env, env).env,
    cwd: io.cwd,
    most: mostBytes,
  }
  const onTooLong = (): void => note('a message of the server was too long; it was left out')
  return (onMessage) => startChild(starting, { onMessage, onTooLong })
}

const showRules = async (rules: Rules, context: Context): Promise<void> => {
  const output = await context.output()
  const rows = [...rules.rules, rules.otherwise].map(({ tools, when, action, approval }, at) => ({
    rule: at < rules.rules.length ? String(at) : 'default',
    tools: tools.join(', '),
    when: when.map(([name, values]) => `${name}: ${values.join(' or ')}`).join(', ') || null,
    action,
    to: action === 'hold' ? approval.to.join(' ') || null : null,
    timeout: action === 'hold' ? approval.timeout : null,
    factors: action === 'hold' ? (approval.factors ?? ['biometric']).join(', ') : null,
  }))
  await output.report('The rules are valid', rows, { masked: new Set(['to']) })
}

const run = async (command: readonly string[], options: Options, context: Context): Promise<void> => {
  const { io, globals } = context
  if (options.rules === undefined) throw usageError('--rules is required', example)
  const { readRules } = await import('./rules.ts')
  const hint = 'svc mcp gate --help shows an example of the rules'
  const bytes = readBytes(options.rules, io, { flag: '--rules', mostMiB: 1, hint })
  const rules = readRules(textOf(bytes, options.rules), options.rules)
  const namesServer = command.length > 0 || options.url !== undefined
  const note = (text: string): void =>
    io.stderr.write(`${fitted(`svc mcp gate: ${safeLine(text)}`, io.stderr)}\n`)
  if (options.check) {
    if (namesServer || options.headerFile !== undefined || options.serverCacert !== undefined || options.env)
      await chooseServer(command, options, { context, note })
    return showRules(rules, context)
  }
  const picking = pickingFlag(globals) ?? (globals.output === undefined ? undefined : '-o')
  if (picking) throw usageError(`${picking} is only for --check`, 'Standard output belongs to the protocol')
  const { ignoreSurroundings } = await import('../../context/own-settings.ts')
  const open = await chooseServer(command, options, { context, note })
  ignoreSurroundings(context, note)
  const { serveGate } = await import('./serve-gate.ts')
  await serveGate({ rules, rulesFile: options.rules, open, note }, context)
}

/** `svc mcp gate`: a proxy before an MCP server that holds back calls of tools until a person has approved them. */
export const registerGate = defineCommand<Options>({
  name: 'gate',
  summary: 'Put approvals before the tools of any MCP server',
  usage: '--rules <file> [flags] -- <command> [args...]',
  args: ['[command...]'],
  options: {
    '--rules <file>': 'File that says which calls a person has to approve, YAML or JSON',
    '--url <url>': 'Address of a server with streamable HTTP, instead of a command',
    '--header-file <file>': 'With --url: private file with the headers to send, one on each line',
    '--server-cacert <file>': 'With --url: CA certificate of the server to trust (PEM)',
    '--env <name>': many('Variable to pass on to the server'),
    '--check': 'Check and print the rules; start nothing',
  },
  note: `The rules, for example:
  server: files
  to: "+12025550101"
  rules:
    - tools: [read_*, list_*]
      action: pass
  default: hold`,
  examples: [
    example,
    'svc mcp gate --rules gate.yaml --url https://mcp.example.com/mcp',
    'svc mcp gate --rules gate.yaml --check',
  ],
  scope: 'ask',
  action: ({ args, options }, context) => run(args, options, context),
})
