import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { z } from 'zod'
import { checkedCommand } from '../command/api-command.ts'
import { wholeNumber } from '../command/arguments.ts'
import { CommandError } from '../command/command-error.ts'
import { stackDirectory } from '../command/connection.ts'
import type { Finding } from './finding.ts'

/** Free unless the user has put something there; an app is configured with it before the command runs. */
const PORT = 9997

const ARGS = {
  origin: { type: 'positional', required: true, description: 'Where the app runs, such as http://127.0.0.1:9998' },
  manifest: { type: 'string', required: true, description: "The file of the app's manifest", valueHint: 'FILE' },
  port: { type: 'string', description: `The port on 127.0.0.1 that serves the doctor's key, ${PORT} unless given` },
  issuer: { type: 'string', description: 'The iss of the tokens, http://127.0.0.1:<port> unless given' },
  key: { type: 'string', description: "The file of the doctor's private key, made when missing", valueHint: 'FILE' },
  json: { type: 'boolean', description: 'Print the findings as JSON' },
} as const

/** `app doctor <origin>`: tries what the platform expects of an app; exits with 1 when something fails. */
export const doctor = checkedCommand(
  'Try what the platform expects of an app that trusts the key of this command (docs/apps.md)',
  ARGS,
  async (args, { environment, print }) => {
    const manifest = readManifest(args.manifest)
    const origin = URL.parse(args.origin)?.origin
    if (origin === undefined) throw new CommandError(`${args.origin} is no URL, such as http://127.0.0.1:9998`)
    // Loaded here, since no other command needs the server and the tokens of the platform.
    const { doctorKey, serveKey } = await import('./doctor-key.ts')
    const { examineApp } = await import('./examine-app.ts')
    const key = doctorKey(args.key ?? join(stackDirectory(environment), 'app-doctor.pem'))
    const platform = await serveKey(key, wholeNumber('port', args.port) ?? PORT)
    const issuer = args.issuer ?? platform.url
    try {
      if (!args.json)
        print(`The app has to run with ${platform.url} as the platform's address and ${issuer} as its issuer.\n\n`)
      const findings = await examineApp({ origin, manifest, key, issuer })
      print(`${args.json ? JSON.stringify(findings, null, 2) : report(findings)}\n`)
      return findings.some(({ result }) => result === 'fail') ? 1 : 0
    } finally {
      await platform.stop()
    }
  },
)

/** Reads a manifest. Throws what is wrong with it, with the path of each mistake. */
function readManifest(file: string): AppManifest {
  try {
    return AppManifest.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new CommandError(`${file} is no manifest of an app: ${reason}`)
  }
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
