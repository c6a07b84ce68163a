import type { PendingRequest } from '../calls/feed.ts'
import { isKey, t } from '../language/text.ts'
import { h, ul } from '../shell/element.ts'
import { framed } from '../shell/text.ts'
import { longText } from './reading.ts'

type Subject = NonNullable<PendingRequest['subject']>
type Fields = Record<string, unknown>

/**
 * Whether svc itself wrote the subject, because a call needs an approval. Only the service says so, never the requester: the
 * names in any other subject are the requester's, and stay as they are.
 */
export const isOwn = ({ subject, origin }: Pick<PendingRequest, 'subject' | 'origin'>): boolean =>
  origin.via === 'rule' && subject?.type === 'request'

/** A field of svc, in the language of the page. */
const nameText = (name: string): Node | string => {
  const key = `field.${name}`
  return /^\w+$/.test(name) && isKey(key) ? t(key as 'field.name') : framed(name)
}

const membersOfGroup = /^group\.(.+)$/s
const partOfRule = /^rule\.(.+)\.(\w+)$/s

const labelText = (name: string): Node => {
  const [, group] = membersOfGroup.exec(name) ?? []
  if (group !== undefined) return h('span', {}, t('field.group'), ' ', framed(group))
  const [, rule, part] = partOfRule.exec(name) ?? []
  return rule === undefined
    ? h('span', {}, nameText(name))
    : h('span', {}, t('field.rule'), ' ', framed(rule), ' · ', nameText(part!))
}

/** All of a value: a list has a line for each item, an object one for each name. `isOurs`: its names are those of svc. */
const valueNode = (value: unknown, isOurs = true): Node | string => {
  if (typeof value === 'boolean') return t(value ? 'field.yes' : 'field.no')
  if (value !== null && typeof value !== 'object') return framed(String(value))
  if (value === null || Object.keys(value).length === 0) return t('field.none')
  if (Array.isArray(value)) return ul('parts', ...value.map((item) => h('li', {}, valueNode(item, isOurs))))
  return parts(value as Fields, isOurs, (one, areOurs) => [valueNode(one, areOurs)])
}

/** A line for each name of an object. The arguments of a tool have names of their own. */
const parts = (
  value: Fields,
  isOurs: boolean,
  shown: (one: unknown, areOurs: boolean, name: string) => (Node | string)[],
): HTMLElement =>
  h(
    'dl',
    'parts',
    ...Object.entries(value).map(([name, one]) =>
      h(
        'div',
        {},
        h('dt', {}, isOurs ? nameText(name) : framed(name)),
        h('dd', {}, ...shown(one, isOurs && name !== 'arguments', name)),
      ),
    ),
  )

/** Whether these are different texts, so that their order and their number say nothing. */
const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.every((item) => typeof item === 'string') &&
  new Set(value).size === value.length

/** Those that both have, in the order of the first. */
const shared = (one: readonly string[], other: readonly string[]): string =>
  JSON.stringify(one.filter((item) => other.includes(item)))

/** Both lists in one: what is gone, then what there is, some of it new. Undefined if that would not show every change. */
const changedList = (before: unknown, now: unknown): Node | undefined => {
  if (!areNames(before) || !areNames(now) || shared(before, now) !== shared(now, before)) return undefined
  const gone = before.filter((item) => !now.includes(item)).map((item) => h('del', {}, framed(item)))
  const there = now.map((item) => (before.includes(item) ? framed(item) : h('ins', {}, framed(item))))
  return ul('parts', ...[...gone, ...there].map((item) => h('li', {}, item)))
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Both objects in one, with the old value beside the new one only where they differ: whoever reads it need not compare. */
const changedParts = (before: Fields, now: Fields, isOurs = true): Node =>
  parts({ ...before, ...now }, isOurs, (_, areOurs, name) => {
    // What either lacks is undefined, which JSON never is. A tool may name an argument `constructor`.
    const [then, there] = [before, now].map((of) => (Object.hasOwn(of, name) ? of[name] : undefined))
    if (JSON.stringify(then) === JSON.stringify(there)) return [valueNode(there, areOurs)]
    const change = changed(then, there, areOurs)
    if (change) return [change]
    return [
      ...(then === undefined ? [] : [h('del', {}, valueNode(then, areOurs)), ' ']),
      ...(there === undefined ? [] : [h('ins', {}, valueNode(there, areOurs))]),
    ]
  })

/** What differs, within what stays. Undefined if that would not show every change. */
const changed = (before: unknown, now: unknown, isOurs = true): Node | undefined =>
  isFields(before) && isFields(now) ? changedParts(before, now, isOurs) : changedList(before, now)

/** A text as it is rendered, anything else as a list. What svc says instead of a part of a rule is in the language of the page. */
const shownValue = (name: string, value: unknown, rendered: string): Node => {
  if (typeof value !== 'string') return longText(rendered, valueNode(value))
  if (partOfRule.test(name) && value === 'none') return longText(t('field.none'))
  if (partOfRule.test(name) && value === 'removed') return longText(t('field.gone'))
  return longText(rendered)
}

/**
 * What a call changes, of a subject that svc itself wrote: each field with its name in the language of the page, and JSON as
 * lists. These are the last fields of the subject; `from` is the first of them.
 */
export const ownFields = ({ data, fields }: Pick<Subject, 'data' | 'fields'>) => {
  const { body = {}, before = {} } = data as { body?: Fields; before?: Fields }
  const names = Object.keys(body)
  const from = fields.length - names.length
  const lines = names.map((name, at): [label: Node, ...content: (Node | string)[]] => {
    const { value, before: old } = fields[from + at]!
    const [now, then] = [body[name], before[name]]
    if (old === undefined) return [labelText(name), shownValue(name, now, value)]
    const change = changed(then, now)
    if (change) return [labelText(name), longText(old + value, change)]
    const [gone, there] = [shownValue(name, then, old), shownValue(name, now, value)]
    return [labelText(name), h('del', {}, gone), ' ', h('ins', {}, there)]
  })
  return { from, lines }
}
