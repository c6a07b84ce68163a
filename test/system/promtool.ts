import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The alert rules, as promtool evaluates them.

export const promtool = process.env['PROMTOOL'] ?? 'promtool'
/** Debian has it in the package `prometheus`. */
export const isThere = spawnSync(promtool, ['--version']).status === 0

export const ruleFile = join(root, 'docs', 'monitoring', 'alerts.yaml')

type Rule = { alert: string; expr: string; annotations: { runbook_url: string } }
export const { rules } = (parse(readFileSync(ruleFile, 'utf8')) as { groups: [{ rules: Rule[] }] }).groups[0]

/** Series as promtool writes them: `0x10 1` is 0 eleven times and then 1, a sample each 15 seconds. */
export const alertsAt = (
  minutes: number,
  series: Record<string, string>,
  expected: Record<string, object[]>,
) => {
  const { path, remove } = temporaryFolder()
  const file = join(path, 'case.json')
  const cases = {
    rule_files: [ruleFile],
    tests: [
      {
        interval: '15s',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: Object.entries(expected).map(([alertname, found]) => ({
          alertname,
          eval_time: `${minutes}m`,
          exp_alerts: found,
        })),
      },
    ],
  }
  writeFileSync(file, JSON.stringify(cases))
  try {
    return spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })
  } finally {
    remove()
  }
}

/** An alert that fires, with its labels but the name. */
export type Firing = { alert: string; labels: Record<string, string>; summary: string }

/** Every alert that fires then. */
export const firingAt = (minutes: number, series: Record<string, string>): Firing[] => {
  // promtool prints the alerts that it got where none was expected.
  const { stdout, stderr } = alertsAt(
    minutes,
    series,
    Object.fromEntries(rules.map(({ alert }) => [alert, []])),
  )
  const found = (stdout + stderr).matchAll(/Labels:\{(.*)\}\s+Annotations:\{.*summary="(.*)"\}/g)
  return [...found].map(([, all, summary]) => {
    const { alertname, ...labels } = Object.fromEntries(
      [...all!.matchAll(/(\w+)="(.*?)"/g)].map(([, name, value]) => [name!, value!]),
    )
    return { alert: alertname!, labels, summary: summary! }
  })
}
