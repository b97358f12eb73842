import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { SigningKey } from '@backoffice/secrets/signing-keys.ts'
import type { Answer, RequestHeaders } from './ask.ts'

/** The result of checking one expectation of the platform. */
export interface Finding {
  /** In plain words: "refuses an expired token". */
  readonly expectation: string
  readonly result: 'pass' | 'fail' | 'skip'
  /** What the app answered. */
  readonly detail: string
}

/** The app, with an installation that the doctor invents. */
export interface Examined {
  readonly origin: string
  readonly manifest: AppManifest
  readonly key: SigningKey
  /** The `iss` that the app is configured with. */
  readonly issuer: string
  readonly workspaceId: string
  readonly apiKey: string
  readonly webhookKey: Buffer
  /** The header with a new token for the installation (OP-82, OP-83). */
  tokenHeaders(purpose: 'provision' | 'session'): Promise<RequestHeaders>
}

export const isSuccess = ({ status }: Answer) => status >= 200 && status < 300
/** 5xx is no refusal: the platform would try again. */
export const isRefusal = ({ status }: Answer) => status >= 400 && status < 500

function judged(expectation: string, isMet: boolean, detail: string): Finding {
  return { expectation, result: isMet ? 'pass' : 'fail', detail }
}

const expecting = (what: string, isMet: (answer: Answer) => boolean) => (expectation: string, answer: Answer) =>
  judged(expectation, isMet(answer), `${answer.text}, expected ${what}`)

export const expectSuccess = expecting('2xx', isSuccess)
export const expectRefusal = expecting('4xx', isRefusal)
export const expectEither = expecting('2xx or 4xx', (answer) => isSuccess(answer) || isRefusal(answer))

/** Expects no `problem`. Otherwise its text is the detail. */
export const expectNothing = (expectation: string, problem: string | undefined): Finding =>
  judged(expectation, problem === undefined, problem ?? 'as expected')

export const skipped = (expectation: string, detail: string): Finding => ({ expectation, result: 'skip', detail })
