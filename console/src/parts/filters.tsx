import { useCanGoBack, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'

export type Search = Readonly<Record<string, string>>

/** The filters of a list: they are in the URL, so that it can be sent to a colleague. A change begins at the first page. */
export function useFilters(): [Search, (changes: Readonly<Record<string, string | undefined>>) => void] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = (changes: Readonly<Record<string, string | undefined>>) => {
    const kept = (before: Search) =>
      Object.fromEntries(Object.entries({ ...before, after: undefined, ...changes }).filter(([, value]) => value))
    navigate({ to: '.', search: kept })
  }
  return [search, change]
}

/** The filters above a list. */
export function Filters({ children }: { readonly children: ReactNode }) {
  return <search className="filters">{children}</search>
}

interface FilterProps {
  readonly label: string
  /** The parameter of the URL. */
  readonly name: string
}

/** A filter with a closed list of values. */
export function Choice({ label, name, options }: FilterProps & { readonly options: readonly Option[] }) {
  const [search, change] = useFilters()
  return (
    <label>
      {label}
      <select value={search[name] ?? ''} onChange={({ target }) => change({ [name]: target.value })}>
        <option value="">any</option>
        <Options of={withValue(options, search[name])} />
      </select>
    </label>
  )
}

/** Options with a value that is set: it filters, too, when it is none of them, such as that of a deleted endpoint. */
export const withValue = (options: readonly Option[], value: string | undefined): readonly Option[] =>
  !value || options.some((option) => valueAndText(option)[0] === value) ? options : [...options, [value, value]]

/** A filter with a few values, several of which can be chosen. The URL has them separated by commas. */
export function Several({ label, name, options }: FilterProps & { readonly options: readonly Option[] }) {
  const [search, change] = useFilters()
  const chosen = new Set(search[name]?.split(','))
  const toggle = (value: string) => {
    if (!chosen.delete(value)) chosen.add(value)
    change({ [name]: [...chosen].join(',') })
  }
  return (
    <fieldset className="several">
      <legend>{label}</legend>
      {options.map(valueAndText).map(([value, text]) => (
        <button key={value} type="button" aria-pressed={chosen.has(value)} onClick={() => toggle(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}

/** A value, or a value and how it is written. */
export type Option = string | readonly [string, string]

/** The value of an option, and how it is written. */
export const valueAndText = (option: Option): readonly [string, string] =>
  typeof option === 'string' ? [option, option.toLowerCase().replaceAll('_', ' ')] : option

/** What a select offers. */
export const Options = ({ of: options }: { readonly of: readonly Option[] }) =>
  options.map(valueAndText).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))

/** What an input types into a filter. Enter applies it, and so does leaving the input. */
function useTyped(name: string, shown: (value: string) => string, sent: (text: string) => string) {
  const [search, change] = useFilters()
  const [typed, setTyped] = useState<string>()
  const apply = () => {
    if (typed !== undefined) change({ [name]: sent(typed) })
    setTyped(undefined)
  }
  return {
    value: typed ?? shown(search[name] ?? ''),
    onChange: ({ target }: { readonly target: { readonly value: string } }) => setTyped(target.value),
    onKeyDown: ({ key }: { readonly key: string }) => key === 'Enter' && apply(),
    onBlur: apply,
  }
}

/** A filter with a text. */
export function Words({ label, name, placeholder }: FilterProps & { readonly placeholder?: string }) {
  const input = useTyped(name, String, (text) => text.trim())
  return (
    <label>
      {label}
      <input type="search" placeholder={placeholder} maxLength={255} {...input} />
    </label>
  )
}

/** What types a time. Years have four digits: others are no time of the API. */
export const LOCAL_TIME = { type: 'datetime-local', max: '9999-12-31T23:59' } as const

/** A filter with a moment of the viewer's zone. The URL has it in UTC. */
export function Moment({ label, name }: FilterProps) {
  const input = useTyped(name, localOf, isoOf)
  return (
    <label>
      {label}
      <input {...LOCAL_TIME} {...input} />
    </label>
  )
}

/** A time of the API as `datetime-local` has it, in the viewer's zone; empty for none. */
export function localOf(iso: string | null | undefined): string {
  const at = new Date(iso ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A time of `datetime-local` as the API has it; empty for none. */
export const isoOf = (local: string): string => local && new Date(local).toISOString()

interface PagerProps {
  /** The id after which the next page begins; undefined at the end. */
  readonly next: string | undefined
  readonly total?: number | undefined
}

/** Ways to the next page and back to the first. Pages follow an id, so that new rows move none. */
export function Pager({ next, total }: PagerProps) {
  const [{ after }, change] = useFilters()
  // Behind the first page of a tab there is no page of the console.
  const hasBefore = useCanGoBack()
  return (
    <PagerButtons
      total={total}
      onFirst={after && (() => change({ after: undefined }))}
      onPrevious={after && hasBefore && (() => history.back())}
      onNext={next && (() => change({ after: next }))}
    />
  )
}

/** A way that a pager leads; nothing where it does not. */
type Way = (() => unknown) | '' | false | undefined

interface PagerButtonsProps {
  readonly total?: number | undefined
  readonly onFirst: Way
  readonly onPrevious: Way
  readonly onNext: Way
}

export const PagerButtons = ({ total, onFirst, onPrevious, onNext }: PagerButtonsProps) => (
  <nav className="pager" aria-label="Pages">
    {total !== undefined && <span className="quiet">{total.toLocaleString()} in all</span>}
    {(
      [
        ['First page', onFirst],
        ['Previous', onPrevious],
        ['Next', onNext],
      ] as const
    ).map(([name, way]) => (
      // Not `disabled`: the button would lose the focus while its page is read.
      <button key={name} type="button" aria-disabled={!way} onClick={way || undefined}>
        {name}
      </button>
    ))}
  </nav>
)
