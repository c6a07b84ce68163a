import { askKeyFor } from '../approve/tool-server.ts'
import type { Context } from '../context/context.ts'
import { getJson, listTools, readHealth } from '../context/open-client.ts'
import { SvcError } from '../../core/errors.ts'
import type { Io } from '../terminal/io.ts'
import { createStore } from '../context/profile-store.ts'
import {
  checkAddress,
  checkCertificate,
  checkDelivery,
  checkKey,
  checkService,
  checkStore,
} from './service.ts'
import { fail, failed, note, ok, warn, type Finding } from './finding.ts'
import { checkGroups } from './groups.ts'
import { checkAskKey, checkKeys } from './keys.ts'

/** Whether the profile file is valid, and readable only by its owner. */
const checkFiles = (io: Io): Finding => {
  const store = createStore(io)
  try {
    const count = Object.keys(store.read().profiles).length
    return count === 0
      ? note('profiles', 'there are no profiles yet', 'svc profile login, or svc serve, creates one')
      : ok('profiles', `${count} in ${store.path}, readable only by you`)
  } catch (error) {
    return failed('profiles', error)
  }
}

const expected = ['check_status', 'request_approval', 'request_approval_async']

const configure = 'svc profile set mcp_url=https://host.example/mcp'

/** Checks the health and the tools of the tool server. The default address is at the service of the REST API. */
const checkTools = async (context: Context, atService: Promise<unknown>): Promise<Finding[]> => {
  const settings = await context.settings()
  const { mcpUrl, baseUrl, cacert, bearer } = settings
  const { origin } = new URL(baseUrl.value)
  const url = mcpUrl?.value ?? `${origin}/mcp`
  try {
    const answer = mcpUrl ? getJson(context, `${new URL(url).origin}/health`, cacert?.value) : atService
    const health = readHealth(await answer)
    // That of the service has been reported.
    if (health === 'unhealthy' && mcpUrl)
      return [fail('tool server', `${url} reports that it is not healthy`, 'Check its log')]
    if (health === 'unknown' && !mcpUrl) return [note('tool server', `none known at ${origin}`, configure)]
  } catch (error) {
    if (mcpUrl) return [failed('tool server', error, configure)]
    return [note('tool server', `none at ${origin}`, configure)]
  }
  const token = (await bearer(url)) ?? (await askKeyFor(url, settings))
  try {
    const listed = await listTools({ url, token, name: 'svc doctor', cacert: cacert?.value }, context)
    const offered = new Set(listed.map(({ name }) => name))
    const missing = expected.filter((name) => !offered.has(name))
    return [
      missing.length === 0
        ? ok('tool server', `${url} answers and offers ${expected.join(', ')}`)
        : warn('tool server', `${url} lacks ${missing.join(', ')}`, 'svc approve tools'),
    ]
  } catch (error) {
    const next =
      'Save a key that can ask: svc profile login --ask. Or use MCP_AUTH_TOKEN, which must be the same at every node of the service'
    // Whoever manages the service asks nobody, and needs no key for that.
    if (token === undefined && !mcpUrl && error instanceof SvcError && error.code === 'unauthenticated')
      return [note('tool server', `${url} answers, and asks only with a key of its own`, next)]
    return [failed('tool server', error, next)]
  }
}

/**
 * What the service says about itself, without a key. One that accepts connections and answers nothing, about which each
 * further check would wait a minute, is `hanging`.
 */
const checkHealth = async (
  origin: string,
  health: Promise<unknown>,
): Promise<{ findings: Finding[]; hanging?: true }> => {
  try {
    if (readHealth(await health) !== 'unhealthy') return { findings: [] }
  } catch (error) {
    if (error instanceof SvcError && error.code === 'timed_out')
      return { findings: [failed('service', error)], hanging: true }
    return { findings: [] }
  }
  const next =
    'Check the log of the service. svc serve reports this while it cannot write, for example because its disk is full'
  return { findings: [fail('service', `${origin} reports that it is not healthy`, next)] }
}

/** Checks everything that a command needs, in that order. Stops where a failure makes the next checks useless. */
export const examine = async (context: Context, databaseUrlFile?: string): Promise<Finding[]> => {
  const databaseUrl = databaseUrlFile
    ? await (await import('./database.ts')).readUrl(context.io, databaseUrlFile)
    : context.io.env.SVC_DATABASE_URL
  const files = checkFiles(context.io)
  const findings = [files]
  if (files.state === 'fail') return findings
  let settings
  try {
    settings = await context.settings()
  } catch (error) {
    return [...findings, failed('settings', error)]
  }
  const address = checkAddress(settings)
  findings.push(address)
  if (address.state === 'fail') return findings
  findings.push(await checkCertificate(context))
  const key = await checkKey(settings)
  findings.push(key)
  const { baseUrl, cacert } = settings
  const { origin } = new URL(baseUrl.value)
  const health = getJson(context, `${origin}/health`, cacert?.value)
  const { findings: reported, hanging } = await checkHealth(origin, health)
  findings.push(...reported)
  if (!hanging && key.state !== 'fail') {
    const service = await checkService(context)
    findings.push(...service)
    if (service[0]?.state === 'ok') {
      findings.push(...(await checkDelivery(context)), ...(await checkStore(context)))
      findings.push(...(await checkAskKey(context)), ...(await checkKeys(context)))
      findings.push(...(await checkGroups(context)))
    }
  }
  if (!hanging) findings.push(...(await checkTools(context, health)))
  if (databaseUrl) {
    const { checkDatabase } = await import('./database.ts')
    findings.push(...(await checkDatabase(context.io, databaseUrl)))
  }
  const { defaultMobile } = settings
  findings.push(
    defaultMobile
      ? ok('approver', `default approver: from the ${defaultMobile.source}`)
      : note('approver', 'no default approver', 'svc profile set default_mobile=+12025550101, or --to'),
  )
  return findings
}
