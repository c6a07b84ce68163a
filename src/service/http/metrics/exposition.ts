// The text format of Prometheus, version 0.0.4.

export type Labels = Readonly<Record<string, string>>

/** `suffix`: `_bucket`, `_sum` or `_count` of a histogram. */
export type Sample = { suffix?: string; labels?: Labels; value: number }

export type Family = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: readonly Sample[]
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const line = (name: string, { suffix = '', labels = {}, value }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

export const exposition = (families: readonly Family[]): string =>
  families
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => line(name, sample)).join('')}`,
    )
    .join('')

/** A metric of a type, with one value, or with a sample for each of its labels. */
const familyOf =
  (type: Family['type']) =>
  (name: string, help: string, value: number | readonly Sample[]): Family => ({
    name,
    type,
    help,
    samples: typeof value === 'number' ? [{ value }] : value,
  })

export const counter = familyOf('counter')
export const gauge = familyOf('gauge')
export const histogram = familyOf('histogram')
