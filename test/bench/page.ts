import { fileOf, languages, type Language } from '../../src/page/language/languages.ts'
import { findChromium } from '../system/page-phone.ts'
import { sizeOf, sizeWithoutLanguages } from '../system/page-size.ts'
import type { Figure } from './figures.ts'
import { auditScreens, auditFigures } from './page-audits.ts'
import { checkStates, stateFigure } from './page-states.ts'
import { measureTimes, timeFigures } from './page-times.ts'

const folder = '/approver'

/** Without what a first visit asks the service for. */
const filesAmong = (paths: string[]): string[] =>
  paths
    .filter((path) => path.startsWith(folder))
    .map((path) => (path === folder ? 'index.html' : path.slice(folder.length + 1)))

/** The most that these paths, which a visit in English fetched, are in any language. */
const largest = (paths: string[]): number => {
  const files = filesAmong(paths)
  if (!files.includes('en.json')) throw new Error('The first visit fetched no texts')
  const others = files.filter((name) => name !== 'en.json')
  return Math.max(
    ...(Object.keys(languages) as Language[]).map((language) => sizeOf([...others, fileOf(language)])),
  )
}

const size = (what: string, bytes: number | undefined, must: number, beyond: number): Figure => ({
  what: `page, brotli: ${what}`,
  figure: bytes && bytes / 1024,
  unit: ' KB',
  must,
  beyond,
  more: false,
})

export const pageFigures = async (): Promise<Figure[]> => {
  const hasBrowser = findChromium() !== undefined
  if (!hasBrowser)
    process.stderr.write(
      'Most rows of the page need Chromium, which was not found: apt-get install chromium\n',
    )
  const times = hasBrowser ? await measureTimes() : undefined
  return [
    size('all files without the texts of languages and the further screens', sizeWithoutLanguages(), 40, 30),
    size('what a first visit fetches, in the largest language', times && largest(times.fetched), 48, 40),
    ...timeFigures(times),
    stateFigure(hasBrowser ? await checkStates() : undefined),
    ...auditFigures(hasBrowser ? await auditScreens() : undefined),
  ]
}
