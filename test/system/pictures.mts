import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createStage } from './approver-stage.ts'
import { journeys } from './approver-states/table.ts'
import { createWay } from './approver-states/way.ts'

// Pictures of every screen in every state, on one page: `npm run pictures`, or `npm run pictures -- decisions`.

type View = { name: string; width: number; height?: number; scheme?: 'light' | 'dark'; text?: number }

/** Each state is seen in these; the languages only in the first two. */
const views: View[] = [
  { name: '390', width: 390 },
  { name: '320 twice', width: 320, text: 2 },
  { name: '390 dark', width: 390, scheme: 'dark' },
  { name: '1280', width: 1280, height: 800 },
  { name: '768 dark', width: 768, height: 1024, scheme: 'dark' },
]
const languages = ['en', 'de', 'ja', 'ar']

const only = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'pictures-'))

const takePicture = async (page: Page, view: View, file: string): Promise<void> => {
  await page.setViewportSize({ width: view.width, height: view.height ?? 780 })
  await page.emulateMedia({ colorScheme: view.scheme ?? 'light' })
  await page.evaluate(
    `document.documentElement.style.fontSize = '${view.text ? `${view.text * 106.25}%` : ''}'`,
  )
  await page.screenshot({ path: join(folder, file), fullPage: true, animations: 'disabled' })
}

const sheet: string[] = []
const stage = await createStage()
try {
  for (const language of languages) {
    for (const [title, journey] of Object.entries(journeys)) {
      if (only.length > 0 && !only.includes(title) && !only.includes(language)) continue
      const phone = await stage.openPhone('light', { locale: language })
      const way = createWay(stage, phone, language)
      for (const [state, lead] of Object.entries(journey(way))) {
        try {
          await lead()
        } catch (error) {
          console.error(`${language}, ${title}, ${state}: ${String(error).split('\n').slice(0, 6).join(' ')}`)
          await takePicture(
            phone.page,
            views[0]!,
            `failed-${language}-${state}.png`.replaceAll(/[ ,]+/g, '-'),
          )
          break
        }
        const shown = language === 'en' ? views : views.slice(0, 2)
        const images: string[] = []
        for (const view of shown) {
          const file = `${language}-${state}-${view.name}.png`.replaceAll(/[ ,]+/g, '-')
          await takePicture(phone.page, view, file)
          images.push(
            `<figure><img src="${file}" width="${view.width / 2}"><figcaption>${view.name}</figcaption></figure>`,
          )
        }
        await takePicture(phone.page, views[0]!, 'last.png')
        sheet.push(`<h2>${language}, ${title}: ${state}</h2><div>${images.join('')}</div>`)
      }
      await phone.context.close()
    }
  }
} finally {
  await stage.close()
}
mkdirSync(folder, { recursive: true })
writeFileSync(
  join(folder, 'index.html'),
  `<!doctype html><meta charset="utf-8"><title>Pictures</title><style>body{font:14px system-ui;background:#888}div{display:flex;gap:1em;align-items:start;overflow-x:auto}figure{margin:0}</style>${sheet.join('\n')}`,
)
console.log(join(folder, 'index.html'))
