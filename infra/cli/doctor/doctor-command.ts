import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { defineCommand } from 'citty'
import { z } from 'zod'
import { doctorKey } from './doctor-keys.ts'
import { examineApp } from './examine-app.ts'
import type { Finding } from './finding.ts'
import { serveKeys } from './serve-keys.ts'

const KEY_FILE = join(process.env.STACK_DIR ?? '.local', 'app-doctor.pem')

/** `app doctor <origin>`: tries what the platform expects of an app. Exits 1 when something is not as expected. */
export const doctorCommand = defineCommand({
  meta: {
    name: 'doctor',
    description: "Try what the platform expects of an app. The app must trust the doctor's key; see docs/apps.md",
  },
  args: {
    origin: { type: 'positional', description: 'where the app runs, such as http://127.0.0.1:9998', required: true },
    manifest: { type: 'string', description: "the app's manifest, <service>.app.json", required: true },
    port: { type: 'string', description: "the port on 127.0.0.1 that serves the doctor's key", default: '9997' },
    issuer: { type: 'string', description: 'the iss of its tokens; http://127.0.0.1:<port> unless given' },
    key: { type: 'string', description: 'the file of its private key; made when missing', default: KEY_FILE },
    json: { type: 'boolean', description: 'print the findings as JSON' },
  },
  async run({ args }) {
    const manifest = readManifest(args.manifest)
    const key = doctorKey(args.key)
    const keys = await serveKeys(key, Number(args.port))
    const issuer = args.issuer ?? keys.url
    try {
      if (!args.json)
        console.log(`The app must run with ${keys.url} as the platform's address and ${issuer} as its issuer.\n`)
      const findings = await examineApp({ origin: args.origin, manifest, key, issuer })
      console.log(args.json ? JSON.stringify(findings, null, 2) : report(findings))
      if (findings.some(({ result }) => result === 'fail')) process.exitCode = 1
    } finally {
      keys.stop()
    }
  },
})

/** Reads a manifest. Throws what is wrong with it, with the path of each mistake. */
function readManifest(file: string): AppManifest {
  const { data, error } = AppManifest.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  if (error) throw new Error(`${file} is no manifest:\n${z.prettifyError(error)}`)
  return data
}

const MARKS = { pass: 'ok  ', fail: 'FAIL', skip: 'skip' } as const

/** A line for each expectation, and how many failed. */
export function report(findings: readonly Finding[]): string {
  const lines = findings.map(({ expectation, result, detail }) =>
    result === 'pass' ? `${MARKS.pass} ${expectation}` : `${MARKS[result]} ${expectation}: ${detail}`,
  )
  const failures = findings.filter(({ result }) => result === 'fail').length
  const end =
    failures === 0
      ? 'The app does what the platform expects.'
      : `${failures} of ${findings.length} expectations are not met.`
  return [...lines, '', end].join('\n')
}
