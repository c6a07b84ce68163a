import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addAuthenticator, launchProfile } from '../system/page-phone.ts'
import { createStage, type Stage } from '../system/page-stage.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Figure } from './figures.ts'

// Lighthouse is fetched when this runs, because with its dependencies it has 185 MB. This is its last version for Node 20.
const program = ['exec', '--yes', '--package=lighthouse@12.8.2', '--', 'lighthouse']

const categories = ['accessibility', 'best-practices'] as const

type Audit = { id: string; title: string; score: number | null }
type Report = {
  runtimeError?: { message: string }
  categories: Record<(typeof categories)[number], { score: number | null; auditRefs: { id: string }[] }>
  audits: Record<string, Audit>
}

const run = async (args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)('npm', [...program, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/** In the browser that listens on this port. The requests of the page wait, so its network is never idle. */
const audit = async (url: string, port: string): Promise<Report> => {
  const only = `--only-categories=${categories.join(',')}`
  const flags = [only, `--port=${port}`, '--max-wait-for-load=10000', '--output=json', '--quiet']
  const report = JSON.parse(await run([url, ...flags])) as Report
  if (report.runtimeError) throw new Error(`Lighthouse failed on ${url}: ${report.runtimeError.message}`)
  return report
}

type Screen = { title: string; hash: string; heading: string | RegExp }

/** A person with a phone, and every screen that an address opens: first those without a session. */
const prepare = async (stage: Stage) => {
  const admin = await stage.person()
  await stage.makeAdmin(admin)
  const phone = await stage.enrolled(admin)
  const decided = await stage.ask(admin)
  await phone.page.locator('a.card').click()
  await phone.tap('Approve')
  await phone.sees('Approved')
  const pending = await stage.ask(admin, { action: 'Release 4.2', reason: 'Fixes the login outage' })
  const link = new URL(await stage.linkFor((await stage.person()).id))
  const signedOut: Screen[] = [
    { title: 'sign-in', hash: '', heading: 'Sign in' },
    { title: 'enrollment', hash: link.hash, heading: 'Hello Ada' },
  ]
  const signedIn: Screen[] = [
    { title: 'inbox', hash: '', heading: '1 request is waiting' },
    { title: 'request', hash: `#request=${pending.request_id}`, heading: 'Release 4.2' },
    { title: 'result', hash: `#request=${decided.request_id}`, heading: 'Approved' },
    { title: 'history', hash: '#history', heading: 'Your decisions' },
    { title: 'devices', hash: '#devices', heading: 'Devices' },
    { title: 'members', hash: '#members', heading: 'Members' },
  ]
  return { signedOut, signedIn, cookies: await phone.context.cookies() }
}

type Scores = { screens: number; lowest: Record<(typeof categories)[number], number> }

const audited = async (stage: Stage, folder: string): Promise<Scores> => {
  const { signedOut, signedIn, cookies } = await prepare(stage)
  const context = await launchProfile(folder, ['--remote-debugging-port=0'])
  const port = readFileSync(join(folder, 'DevToolsActivePort'), 'utf8').split('\n')[0]!
  const scores: Scores = { screens: 0, lowest: { accessibility: 100, 'best-practices': 100 } }
  const look = async ({ title, hash, heading }: Screen): Promise<void> => {
    const opened = context.waitForEvent('page')
    const isShown = async (): Promise<void> => {
      const page = await opened
      await addAuthenticator(page)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    }
    const [report] = await Promise.all([audit(`${stage.origin}/approver${hash}`, port), isShown()])
    scores.screens += 1
    for (const category of categories) {
      const { score, auditRefs } = report.categories[category]
      if (score === null) throw new Error(`Lighthouse has no score for ${category} of ${title}`)
      scores.lowest[category] = Math.min(scores.lowest[category], score * 100)
      for (const { id } of auditRefs) {
        const one = report.audits[id]!
        if (one.score !== null && one.score < 1) process.stderr.write(`${title}: ${one.title} (${id})\n`)
      }
    }
  }
  try {
    for (const screen of signedOut) await look(screen)
    await context.addCookies(cookies)
    for (const screen of signedIn) await look(screen)
  } finally {
    await context.close()
  }
  return scores
}

/** Undefined if Lighthouse cannot be fetched. */
export const auditScreens = async (): Promise<Scores | undefined> => {
  try {
    await run(['--version'])
  } catch (error) {
    process.stderr.write(
      `Lighthouse could not be fetched. With a network, this does it: npm ${program.join(' ')} --version\n${String(error)}\n`,
    )
    return undefined
  }
  const folder = temporaryFolder()
  const stage = await createStage({ notifications: true })
  try {
    return await audited(stage, folder.path)
  } finally {
    await stage.close()
    folder.remove()
  }
}

export const auditFigures = (scores?: Scores): Figure[] =>
  categories.map((category) => ({
    what: `page, Lighthouse, lowest of ${scores?.screens ?? 'all'} screens: ${category.replace('-', ' ')}`,
    figure: scores?.lowest[category],
    unit: ' points',
    must: 100,
    beyond: 100,
    more: true,
  }))
