import { button, h, picture, type Drawing } from './element.ts'

const place = (id: string): HTMLElement => document.getElementById(id)!

/** Visible to screen readers only. */
export const announce = (text: string): void => {
  place('announcement').textContent = text
}

export const nameOrganization = (name: string): void => {
  place('organization').textContent = name
}

let news: string | undefined

/** Shown once, at the top of the next screen. */
export const tellNext = (text: string): void => {
  news = text
}

/** Replaces the current screen; a screen reader continues at the new heading. */
export const show = (title: string, ...children: (Node | string | false | null)[]): HTMLElement => {
  const outcome = news !== undefined && h('p', { class: 'outcome', role: 'status' }, news)
  news = undefined
  const screen = h('div', { class: 'screen' }, outcome, ...children)
  const main = place('main')
  main.replaceChildren(screen)
  main.removeAttribute('aria-busy')
  document.title = title
  const heading = screen.querySelector('h1')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus({ preventScroll: true })
  scrollTo(0, 0)
  return screen
}

/** The screen during a device check or a call. */
export const setBusy = (busy: boolean): void => place('main').setAttribute('aria-busy', String(busy))

type Notice = {
  drawing: Drawing
  tone?: 'good' | 'still'
  title: string
  lines: readonly (string | Node)[]
  actions?: readonly HTMLElement[]
}

/** A screen with one message and the next step. */
export const showNotice = ({ drawing, tone = 'still', title, lines, actions = [] }: Notice): HTMLElement =>
  show(
    title,
    h(
      'div',
      { class: 'notice' },
      picture(drawing, tone),
      h('h1', {}, title),
      ...lines.map((line) => h('p', {}, line)),
    ),
    actions.length > 0 && h('div', { class: 'actions' }, ...actions),
  )

/** A line with the error of the last tap. */
export const problemLine = (): { element: HTMLElement; say: (text: string) => void } => {
  const element = h('p', { class: 'problem', role: 'alert' })
  return { element, say: (text) => (element.textContent = text) }
}

export const setOffline = (offline: boolean, retry: () => void): void => {
  const banner = place('offline')
  if (offline === banner.hasChildNodes()) return
  banner.replaceChildren(
    ...(offline
      ? [h('p', {}, 'No connection. Trying again automatically.'), button('Try now', 'quiet', retry)]
      : []),
  )
}
