import type { Pending } from '../calls/api.ts'
import { h } from '../shell/element.ts'
import { exactText } from '../shell/text.ts'

type Condition = Pending['conditions'][number]

const listed = ({ options, total }: Condition): string => {
  const more = total - options.length
  const all = more > 0 ? [...options, `${more} more`] : options
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join('; ')} or ${all.at(-1)}`
}

const words: Record<Condition['factor'], (condition: Condition) => string> = {
  biometric: () => 'Your face, fingerprint or PIN',
  location: (one) => (one.total > 0 ? `Your location: in ${listed(one)}` : 'Your location'),
  time: (one) => (one.total > 0 ? `The time: ${listed(one)}` : 'The time'),
  device: () => 'This device',
  ip: (one) => `Your network: ${listed(one)}`,
}

const textOf = (one: Condition): string =>
  one.required ? words[one.factor](one) : `${words[one.factor](one)} (recorded only)`

/** Everything that an approval is checked against, in plain words. */
export const conditionList = ({ conditions }: Pending): HTMLElement =>
  h('ul', { class: 'conditions' }, ...conditions.map((one) => h('li', {}, exactText(textOf(one)))))

const refusals: Partial<Record<Condition['factor'], string>> = {
  time: 'It’s outside the hours when you can approve.',
  ip: 'You’re not in a network that your organization allows.',
  device: 'This device isn’t trusted by your organization.',
}

export const checksLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor }) => factor === 'location')

const needsLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor, required }) => factor === 'location' && required)

/** Why the service would refuse an approval now; empty if nothing is known against it. */
export const warningsFor = (request: Pending, locationBlocked: boolean): string[] => [
  ...new Set(
    request.conditions.flatMap(({ factor, required, outlook }) =>
      required && outlook === 'fail' ? [refusals[factor] ?? 'A rule of your organization isn’t met.'] : [],
    ),
  ),
  ...(locationBlocked && needsLocation(request) ? ['This page can’t read your location.'] : []),
]
