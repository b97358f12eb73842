import { useState } from 'react'
import { decimalsOf, decimalText } from './amounts.ts'
import { useCopy } from './copy.tsx'

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time in the viewer's zone; in UTC when the pointer is on it. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span className="quiet">–</span>
  return (
    <time dateTime={at} title={at.replace('T', ' ').replace('Z', ' UTC')}>
      {LOCAL.format(new Date(at))}
    </time>
  )
}

/** An amount in minor units, with the decimals of its currency. */
export function Money({ amount, currency }: { readonly amount: number | null; readonly currency: string }) {
  if (amount === null) return <span className="quiet">–</span>
  return <span className="money">{moneyText(amount, currency)}</span>
}

/** An amount in minor units as text: `NGN 4,500.00`. */
export function moneyText(amount: number, currency: string): string {
  const decimals = { minimumFractionDigits: decimalsOf(currency), maximumFractionDigits: decimalsOf(currency) }
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    ...decimals,
  })
  return format.format(decimalText(amount, currency) as `${number}`)
}

/** An id that a click copies. A long one is shortened. */
export function Id({ id }: { readonly id: string }) {
  const copy = useCopy()
  return (
    <button
      type="button"
      className="id"
      title={`Copy ${id.slice(0, 100)}`}
      onClick={() => copy(id, `${shortened(id)} is copied.`)}
    >
      {shortened(id)}
    </button>
  )
}

const shortened = (id: string) => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id)

const MOST_OF_A_NAME = 80

/** A name that somebody else gave, for a sentence: not too long, and it cannot turn the words around it (U+2068). */
export const nameIn = (name: string): string =>
  `\u2068${name.length > MOST_OF_A_NAME ? `${name.slice(0, MOST_OF_A_NAME)}…` : name}\u2069`

const MOST_SHOWN = 200

interface LongProps {
  readonly text: string
  readonly most?: number
  /** In a list: two lines, and all of it when the pointer is on it. */
  readonly isCut?: boolean
}

/** Text that somebody else wrote, of any length: the beginning, and the rest when asked for. */
export function Long({ text, most = MOST_SHOWN, isCut = false }: LongProps) {
  const [isWhole, setIsWhole] = useState(false)
  if (isCut) {
    return (
      <span className="long cut" title={text}>
        {text}
      </span>
    )
  }
  if (text.length <= most) return <span className="long">{text}</span>
  return (
    <span className="long">
      {isWhole ? text : `${text.slice(0, most)}… `}
      <button type="button" className="plain" onClick={() => setIsWhole(!isWhole)}>
        {isWhole ? 'less' : `all ${text.length.toLocaleString()} characters`}
      </button>
    </span>
  )
}

/** JSON, indented. It scrolls, so the keyboard reaches it. */
export function Json({ value }: { readonly value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it nobody scrolls by keyboard (axe: scrollable-region-focusable)
    <pre className="code" tabIndex={0}>
      {text}
    </pre>
  )
}

const STATES = {
  good: 'DELIVERED ACTIVE PAID SUCCEEDED COMPLETED FULFILLED VALIDATED IN_STOCK READY DONE',
  bad: 'FAILED FAILING DISABLED CANCELLED OUT_OF_STOCK REVOKED SUSPENDED DELETED SKIPPED INVALID',
  busy:
    'PENDING RUNNING PROCESSING VALIDATING UPLOADED IMPORTING COMPLETED_WITH_ERRORS ' +
    'PARTIAL PARTIALLY_PAID PARTIALLY_REFUNDED PARTIALLY_FULFILLED',
} as const

const TONES = new Map(
  Object.entries(STATES).flatMap(([tone, states]) => states.split(' ').map((state) => [state, tone] as const)),
)

/** A state in words, coloured by how good it is. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: keyof typeof STATES | 'plain' }) {
  return (
    <span className={`badge ${tone ?? TONES.get(state) ?? 'plain'}`}>{state.toLowerCase().replaceAll('_', ' ')}</span>
  )
}
