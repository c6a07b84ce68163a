import { bulkFigures } from './bulk.ts'
import { fenceFigure } from './fences.ts'
import { filterFigure } from './filter.ts'
import { median, passes, tableOf, type Figure } from './figures.ts'
import { startService } from './service-child.ts'
import { startUpFigures } from './start-up.ts'
import { readFigure, writeFigure } from './throughput.ts'

// `npm run bench`: the speed table. Every figure is taken in this run; it ends with 1 when a must is missed.
const readyMs: number[] = []
for (let round = 0; round < 5; round++) {
  const service = await startService()
  readyMs.push(service.readyMs)
  await service.end()
}

const service = await startService()
const figures: Figure[] = []
try {
  const created = await fetch(`${service.baseUrl}/organization/create`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Acme' }),
  })
  if (!created.ok) throw new Error(`The first organization was not made: ${await created.text()}`)
  figures.push(...(await startUpFigures(service)), await readFigure(service), await writeFigure(service), {
    what: 'first svc serve to ready, empty data dir',
    figure: median(readyMs),
    unit: ' ms',
    must: 1000,
    beyond: 400,
    more: false,
  })
} finally {
  await service.end()
}
figures.push(await filterFigure(), fenceFigure(), ...(await bulkFigures()))
process.stdout.write(`${tableOf(figures)}\n`)
process.exitCode = figures.every(passes) ? 0 : 1
