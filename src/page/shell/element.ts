export type Child = Node | string | false | null | undefined
type Listener = (event: Event) => unknown
type Properties = Record<string, string | number | boolean | Listener | undefined>

const svgNames = new Set(['svg', 'path'])

/** Replaces the content of an element. */
export const put = (element: Element, ...children: Child[]): void =>
  element.replaceChildren(
    ...children.filter(
      (child): child is Node | string => child !== false && child !== null && child !== undefined,
    ),
  )

/** Creates an element, with a class if that is all it has. Functions become listeners, `true` an empty attribute; text is never parsed as markup. */
export const h = <K extends keyof HTMLElementTagNameMap>(
  name: K | 'svg' | 'path',
  properties: Properties | string = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] => {
  const element = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name)
  for (const [key, value] of Object.entries(
    typeof properties === 'string' ? { class: properties } : properties,
  )) {
    if (typeof value === 'function') element.addEventListener(key, value)
    else if (value !== false && value !== undefined)
      element.setAttribute(key, value === true ? '' : String(value))
  }
  put(element, ...children)
  return element as unknown as HTMLElementTagNameMap[K]
}

export const div = (name: string, ...children: Child[]): HTMLDivElement => h('div', name, ...children)

/** Two buttons of one question, which a screen reader says with them. */
export const pair = (question: string, ...buttons: Child[]): HTMLDivElement =>
  h('div', { class: 'pair', role: 'group', 'aria-label': question }, ...buttons)

/** Content that opens with a tap on its title. */
export const details = (title: string, ...children: Child[]): HTMLDetailsElement =>
  h('details', {}, h('summary', 'row', title), ...children)

/** Safari takes a list without bullets for layout, unless it says that it is a list. */
export const ul = (name: string, ...items: Child[]): HTMLUListElement =>
  h('ul', { class: name, role: 'list' }, ...items)

/** A way to another screen, in a list. `waits`: something there waits for the person. */
export const way = (place: string, waits: boolean, ...content: Child[]): HTMLElement =>
  h('li', {}, h('a', { class: waits ? 'row waits' : 'row', href: `#${place}` }, ...content))

/** `primary` goes on or says yes, `danger` refuses or removes, `plain` is as important, `quiet` less. */
type Kind = 'primary' | 'plain' | 'danger' | 'quiet'

/** A large button. While its work runs, it is busy and ignores taps. `spoken`: what a screen reader says instead of the label. */
export const button = (
  label: string,
  kind: Kind,
  work: () => unknown,
  spoken?: string,
): HTMLButtonElement => {
  const element = h('button', { type: 'button', class: `button ${kind}`, 'aria-label': spoken }, label)
  element.addEventListener('click', () => {
    if (element.hasAttribute('aria-disabled')) return
    element.setAttribute('aria-disabled', 'true')
    void Promise.resolve(work()).finally(() => element.removeAttribute('aria-disabled'))
  })
  return element
}

/** A link that looks like a button. */
export const link = (href: string, kind: Kind, label: string): HTMLAnchorElement =>
  h('a', { class: `button ${kind}`, href }, label)

/** A field with its label. */
export const labelled = (label: string, field: HTMLElement): HTMLElement =>
  div('field', h('label', { for: field.id }, label), field)

/** A field for a name or a search. */
export const textField = (id: string, value = '', more: Properties = {}): HTMLInputElement =>
  h('input', { id, value, maxlength: 60, autocomplete: 'off', dir: 'auto', ...more })

const drawings = {
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M7 7l10 10M17 7L7 17',
  clock: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.5V12l3 2',
  phone: 'M7 3.5h10v17H7zM11 17.5h2',
  bell: 'M6.5 16.5V11a5.5 5.5 0 0 1 11 0v5.5l1.5 1.5H5zM10.5 20.5h3',
  people:
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3.5 19a5.5 5.5 0 0 1 11 0M15.5 5.3a3 3 0 0 1 0 5.4M17 14a5.5 5.5 0 0 1 3.5 5',
  agent: 'M6 8.5h12v10H6zM12 8.5V5M9.5 12.5v2M14.5 12.5v2M3 12v3M21 12v3',
  barred: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM6 6l12 12',
  place:
    'M12 21s-6.5-6-6.5-10.5a6.5 6.5 0 0 1 13 0C18.5 15 12 21 12 21zM12 13a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  alert: 'M12 4l9 15.5H3zM12 10v4.5M12 17v.1',
  calendar: 'M4.5 5.5h15v14h-15zM4.5 10h15M8.5 3.5v4M15.5 3.5v4',
  globe:
    'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM3.5 12h17M12 3.5a4 8.5 0 0 0 0 17 4 8.5 0 0 0 0-17z',
}
export type Drawing = keyof typeof drawings

/** A decorative line icon. */
export const picture = (name: Drawing, tone = ''): HTMLElement =>
  h(
    'span',
    { class: `picture ${tone}`, 'aria-hidden': 'true' },
    h('svg', { viewBox: '0 0 24 24' }, h('path', { d: drawings[name] })),
  )
