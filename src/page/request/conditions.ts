import type { Pending } from '../calls/api.ts'
import { h, ul } from '../shell/element.ts'
import { exactText, joined } from '../shell/text.ts'
import { hoursText } from '../language/hours.ts'
import { locale, nodes, t, type Key } from '../language/text.ts'

type Condition = Pending['conditions'][number]

const listed = ({ options, total }: Pick<Condition, 'options' | 'total'>): Node => {
  const more = total - options.length
  const named = options.map((one) => exactText(one))
  return joined(more > 0 ? [...named, nodes('request.more', { count: more })] : named, 'disjunction')
}

const words: Record<Condition['factor'], (condition: Condition) => Node> = {
  biometric: () => nodes('request.biometric'),
  location: (one) =>
    one.total > 0 ? nodes('request.locationIn', { places: listed(one) }) : nodes('request.location'),
  time: ({ options, total }) =>
    total > 0
      ? nodes('request.timeIn', {
          hours: listed({ options: options.map((one) => hoursText(one, locale())), total }),
        })
      : nodes('request.time'),
  device: () => nodes('request.device'),
  ip: (one) => nodes('request.network', { networks: listed(one) }),
}

const textOf = (one: Condition): Node => {
  const condition = words[one.factor](one)
  return one.required ? condition : nodes('request.recordedOnly', { condition })
}

/** Everything that an approval is checked against, in plain words. */
export const conditionList = ({ conditions }: Pending): HTMLElement =>
  ul('conditions', ...conditions.map((one) => h('li', {}, textOf(one))))

const refusals: Partial<Record<Condition['factor'], Key>> = {
  time: 'request.outsideHours',
  ip: 'request.outsideNetwork',
  device: 'request.untrustedDevice',
}

export const checksLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor }) => factor === 'location')

const needsLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor, required }) => factor === 'location' && required)

/** Why the service would refuse an approval now; empty if nothing is known against it. */
export const warningsFor = (request: Pending, locationBlocked: boolean): string[] => [
  ...new Set(
    request.conditions.flatMap(({ factor, required, outlook }) =>
      required && outlook === 'fail' ? [t(refusals[factor] ?? 'request.ruleNotMet')] : [],
    ),
  ),
  ...(locationBlocked && needsLocation(request) ? [t('request.noLocation')] : []),
]
