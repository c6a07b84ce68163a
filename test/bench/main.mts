import { bulkFigures } from './bulk.ts'
import { fenceFigure } from './fences.ts'
import { filterFigure } from './filter.ts'
import { idleness, median, passes, tableOf, type Figure, type Measured } from './figures.ts'
import { watchOthers } from './processor-time.ts'
import { pageFigures } from './page.ts'
import { receiptFigure } from './receipts.ts'
import { ruleImportFigure } from './rule-import.ts'
import { ruleFigure } from './rules.ts'
import { scaleFigures } from './scale.ts'
import { startService, type ServiceChild } from './service-child.ts'
import { startUpFigures } from './start-up.ts'
import { storeFigures } from './stores.ts'
import { waiterFigure } from './waiter.ts'
import { waitFigures } from './waits.ts'
import { readFigures, writeFigures } from './throughput.ts'

// `npm run bench`: the speed table. Every figure is measured in this run. Exits with 1 if a must is missed.
// `npm run bench -- reads writes` measures only these rows.

/** Runs `measure` on a new service with one organization. */
const withService = async (measure: (service: ServiceChild) => Promise<Figure[]>): Promise<Figure[]> => {
  const service = await startService()
  try {
    const created = await fetch(`${service.baseUrl}/organization/create`, {
      method: 'POST',
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Acme' }),
    })
    if (!created.ok) throw new Error(`The first organization was not created: ${await created.text()}`)
    return await measure(service)
  } finally {
    await service.end()
  }
}

const readyFigure = async (): Promise<Figure> => {
  const readyMs: number[] = []
  for (let round = 0; round < 5; round++) {
    const service = await startService()
    readyMs.push(service.readyMs)
    await service.end()
  }
  return {
    what: 'first svc serve to ready, empty data dir',
    figure: median(readyMs),
    unit: ' ms',
    must: 1000,
    beyond: 300,
    more: false,
  }
}

const rows: Record<string, () => Promise<Figure[]>> = {
  'start-up': () => withService(startUpFigures),
  reads: () => withService(readFigures),
  writes: () => withService(writeFigures),
  ready: async () => [await readyFigure()],
  waiter: async () => [await waiterFigure()],
  waits: waitFigures,
  filter: async () => [await filterFigure()],
  fences: async () => [fenceFigure()],
  receipts: async () => [await receiptFigure()],
  rules: async () => [await ruleFigure()],
  'rule-import': async () => [await ruleImportFigure()],
  import: bulkFigures,
  stores: storeFigures,
  scale: scaleFigures,
  page: pageFigures,
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in rows))
if (unknown.length > 0)
  throw new Error(`There is no row ${unknown.join(', ')}. There are: ${Object.keys(rows).join(', ')}`)

const figures: Measured[] = []
for (const [name, measure] of Object.entries(rows)) {
  if (names.length > 0 && !names.includes(name)) continue
  const othersUsed = watchOthers()
  const taken = await measure()
  const others = othersUsed()
  for (const one of taken) figures.push({ ...one, others })
}
process.stdout.write(`${tableOf(figures)}\n${idleness(figures)}\n`)
process.exitCode = figures.every(passes) ? 0 : 1
