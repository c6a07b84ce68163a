import { copyFileSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { brokenWords } from './page-flaws.ts'
import { createStages } from './page-states/stages.ts'
import { journeys, languages, titles } from './page-states/table.ts'
import type { Steps, Way } from './page-states/way.ts'
import { type Picture, sheet } from './picture-sheet.ts'

// Pictures of every screen in every state, on one page: `npm run pictures`. With arguments, only these journeys or
// languages: `npm run pictures -- decisions ar`. With `docs`, those that the docs show are renewed.

type View = { name: string; width: number; height?: number; scheme?: 'light' | 'dark'; text?: number }

const phones: View[] = [
  { name: '390', width: 390 },
  { name: '320 large text', width: 320, text: 2 },
]
/** English is seen in each of these, the other languages in the first two. */
const views: View[] = [
  ...phones,
  { name: '390 dark', width: 390, scheme: 'dark' },
  { name: '320', width: 320 },
  { name: '768', width: 768, height: 1024 },
  { name: '768 dark', width: 768, height: 1024, scheme: 'dark' },
  { name: '1280', width: 1280, height: 800 },
  { name: '1280 dark', width: 1280, height: 800, scheme: 'dark' },
]

/** In `docs/pictures`: the language, the state and the view. */
const kept: Record<string, [string, string, string]> = {
  enroll: ['en', 'link', '390'],
  registered: ['en', 'registered', '390'],
  inbox: ['en', 'inbox, many requests', 'first screen'],
  request: ['en', 'request', '390'],
  approved: ['en', 'approved, in time', '390'],
  'warning-dark': ['en', 'request, would be refused', '390 dark'],
  'not-approved': ['en', 'not approved', '390'],
  'request-german': ['de', 'request', '390'],
}

const wanted = process.argv.slice(2)
const known = [...titles, ...languages, 'docs']
const unknown = wanted.find((one) => !known.includes(one))
if (unknown !== undefined) throw new Error(`"${unknown}" is none of ${known.join(', ')}`)
const isWanted = (name: string, among: readonly string[]): boolean =>
  !wanted.some((one) => among.includes(one)) || wanted.includes(name)

const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
const pictures: Picture[] = []
const failed: string[] = []
const fileName = (...parts: string[]): string => `${parts.join('-').replaceAll(/[ ,]+/g, '-')}.png`

/** Of the whole page. The bar of a request, which stays on the screen, is at its end. */
const takePicture = async (page: Page, view: View, file: string): Promise<void> => {
  await page.setViewportSize({ width: view.width, height: view.height ?? 780 })
  await page.emulateMedia({ colorScheme: view.scheme ?? 'light' })
  await page.evaluate(`{
    document.documentElement.style.fontSize = '${view.text ? `${view.text * 106.25}%` : ''}'
    document.querySelector('.bar')?.style.setProperty('position', 'static')
  }`)
  await page.screenshot({ path: join(folder, file), fullPage: true, animations: 'disabled' })
}

const takeState = async ({ page }: Way, language: string, journey: string, state: string): Promise<void> => {
  const isLonger: boolean = await page.evaluate('document.documentElement.scrollHeight > innerHeight')
  const at = { language, journey, state }
  if (isLonger && language === 'en') {
    const file = fileName(language, state, 'first screen')
    await page.screenshot({ path: join(folder, file), animations: 'disabled' })
    pictures.push({ ...at, view: 'first screen', width: 390, file, notes: [] })
  }
  for (const view of language === 'en' ? views : phones) {
    const file = fileName(language, state, view.name)
    await takePicture(page, view, file)
    const notes = view.text === undefined && view.width === 390 ? await brokenWords({ page }) : []
    pictures.push({ ...at, view: view.name, width: view.width, file, notes })
  }
  await page.setViewportSize({ width: 390, height: 780 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.evaluate(`{
    document.documentElement.style.fontSize = ''
    document.querySelector('.bar')?.style.removeProperty('position')
  }`)
}

const play = async (way: Way, language: string, journey: string, steps: Steps): Promise<void> => {
  for (const [state, lead] of Object.entries(steps)) {
    try {
      await lead()
      await takeState(way, language, journey, state)
    } catch (error) {
      failed.push(`${language}, ${journey}, ${state}: ${String(error).split('\n').slice(0, 6).join(' ')}`)
      await takePicture(way.page, phones[0]!, fileName('failed', language, state))
      return
    }
  }
}

const takeLanguage = async (language: string): Promise<void> => {
  const stages = createStages()
  try {
    for (const journey of titles) {
      if (!isWanted(journey, titles)) continue
      const way = await stages.open(journey, language)
      await play(way, language, journey, journeys[journey](way))
      await stages.closePhones()
    }
  } finally {
    await stages.close()
  }
}

const left = languages.filter((one) => isWanted(one, languages))
const work = async (): Promise<void> => {
  for (let next = left.shift(); next !== undefined; next = left.shift()) await takeLanguage(next)
}
await Promise.all([work(), work()])

if (wanted.includes('docs'))
  for (const [name, parts] of Object.entries(kept)) {
    const taken = join(folder, fileName(...parts))
    const place = fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url))
    if (existsSync(taken)) copyFileSync(taken, place)
  }

const index = join(folder, 'index.html')
writeFileSync(index, sheet(pictures, languages))
for (const { language, state, notes } of pictures)
  if (notes.length > 0) console.log(`${language}, ${state}: ${notes.join(', ')}`)
for (const line of failed) console.error(line)
console.log(index)
process.exitCode = failed.length > 0 ? 1 : 0
