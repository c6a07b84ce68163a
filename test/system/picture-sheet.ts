export type Picture = {
  language: string
  journey: string
  state: string
  view: string
  width: number
  file: string
  /** What is wrong with it, as far as a program sees that. */
  notes: string[]
}

const style = `
:root { color-scheme: light dark; --line: light-dark(#d5d9d8, #3a403e) }
body { margin: 0; font: 15px/1.4 system-ui, sans-serif; background: light-dark(#e9ecea, #1d2120) }
nav { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 6px 18px; padding: 12px 24px;
  background: light-dark(#fffd, #111d); backdrop-filter: blur(8px); border-bottom: 1px solid var(--line) }
nav a { color: inherit }
nav label { white-space: nowrap }
h2 { margin: 40px 24px 12px; scroll-margin-top: 80px }
section { margin: 0 24px 20px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 14px;
  background: light-dark(#fff, #262b29) }
h3 { margin: 0 0 10px; font-size: 15px }
div { display: flex; flex-wrap: wrap; gap: 16px; align-items: start }
figure { flex: none; margin: 0 }
img { display: block; max-height: 600px; object-fit: cover; object-position: top; border: 1px solid var(--line); border-radius: 8px }
figcaption { margin-top: 4px; font-size: 12px; opacity: .75 }
figcaption b { color: light-dark(#b3261e, #ffb3ab) }`

const grouped = <T>(all: readonly T[], key: (one: T) => string): [string, T[]][] => {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one])
  return [...groups]
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const figure = ({ language, view, width, file, notes }: Picture): string =>
  `<figure class="${language}"><a href="${file}"><img src="${file}" alt="" loading="lazy" width="${Math.round(width * (width > 500 ? 0.3 : 0.5))}"></a>` +
  `<figcaption>${language} ${view}${notes.map((note) => `<br><b>${escaped(note)}</b>`).join('')}</figcaption></figure>`

/** One page with a row for each state. Languages can be hidden; a picture opens in its own size. */
export const sheet = (pictures: readonly Picture[], languages: readonly string[]): string => {
  const order = ({ language }: Picture): number => languages.indexOf(language)
  const all = [...pictures].sort((one, other) => order(one) - order(other))
  const journeys = grouped(all, ({ journey }) => journey)
  const hiding = languages
    .map((one) => `body:has(#${one}:not(:checked)) figure.${one} { display: none }`)
    .join('\n')
  const boxes = languages.map((one) => `<label><input type="checkbox" id="${one}" checked> ${one}</label>`)
  const links = journeys.map(([journey], at) => `<a href="#journey-${at}">${escaped(journey)}</a>`)
  const body = journeys.map(
    ([journey, shown], at) =>
      `<h2 id="journey-${at}">${escaped(journey)}</h2>` +
      grouped(shown, ({ state }) => state)
        .map(
          ([state, row]) =>
            `<section><h3>${escaped(state)}</h3><div>${row.map(figure).join('')}</div></section>`,
        )
        .join('\n'),
  )
  return `<!doctype html><meta charset="utf-8"><title>The approver page</title><style>${style}\n${hiding}</style>
<nav>${[...links, ...boxes].join(' ')}</nav>${body.join('\n')}`
}
