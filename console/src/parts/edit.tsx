import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import type { Tagged } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { useAction } from './action.tsx'
import { Dialog } from './dialog.tsx'
import { type Option, Options } from './filters.tsx'
import { FormEnd, submitted } from './form-dialog.tsx'

/** A member of a resource as text, and how it is typed. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  /** What a select offers. */
  readonly options?: readonly Option[]
  readonly isLong?: boolean
  /** Further attributes of the input, such as `required`. */
  readonly input?: Pick<
    ComponentProps<'input'>,
    'required' | 'type' | 'inputMode' | 'maxLength' | 'min' | 'placeholder'
  >
  readonly hint?: string
}

export type Texts = Readonly<Record<string, string>>

/** The texts of a form when it is saved. */
interface Typed {
  /** Those that differ from what was read. */
  readonly changed: Texts
  readonly all: Texts
}

interface EditProps<Resource> {
  readonly title: string
  /** As it was read; for something new, what the form begins with. */
  readonly of: Tagged<Resource>
  readonly fieldsOf: (resource: Resource) => readonly Field[]
  /** Reads it again once somebody else has changed it. */
  readonly read?: () => Promise<Tagged<Resource>>
  readonly save: (typed: Typed, tag: string) => Promise<unknown>
  readonly done: string
  readonly changes: readonly string[]
  readonly onClose: () => void
  /** The word on the button. */
  readonly verb?: string
  readonly children?: ReactNode
}

const textsOf = (fields: readonly Field[]): Texts => Object.fromEntries(fields.map(({ name, value }) => [name, value]))
const ATTEMPTS = 3

/**
 * A form that sends what was changed, provided that nobody else has changed the same meanwhile (`If-Match`). Else it
 * shows both, and saves only when told so. What others have changed elsewhere in the resource stays as they left it.
 */
export function Edit<Resource>(props: EditProps<Resource>) {
  const { title, of, fieldsOf, read, save, done, changes, onClose, verb = 'Save', children } = props
  const [base, setBase] = useState(of)
  const [typed, setTyped] = useState<Texts>({})
  const [theirs, setTheirs] = useState<Texts>({})
  const fields = fieldsOf(base.body)

  /** Throws when somebody else has changed the same. */
  async function send(): Promise<void> {
    let { body, tag } = base
    const before = textsOf(fieldsOf(body))
    for (let attempt = 1; ; attempt += 1) {
      const known = textsOf(fieldsOf(body))
      const changed = Object.fromEntries(Object.entries(typed).filter(([name, text]) => text !== known[name]))
      if (Object.keys(changed).length === 0) return
      try {
        await save({ changed, all: { ...known, ...typed } }, tag)
        return
      } catch (error) {
        const isChanged = error instanceof ApiFailure && error.status === 412
        if (!isChanged || read === undefined || attempt === ATTEMPTS) throw error
      }
      const now = await read()
      const after = textsOf(fieldsOf(now.body))
      const clashing = Object.keys(changed).filter((name) => after[name] !== before[name])
      if (clashing.length > 0) {
        setBase(now)
        setTheirs(Object.fromEntries(clashing.map((name) => [name, after[name] ?? ''])))
        throw new Error('somebody else has changed the same')
      }
      ;({ body, tag } = now)
    }
  }
  const saving = useAction(send, { done, changes, onDone: onClose, showsFailures: true })
  const submit = submitted(() => {
    setTheirs({})
    saving.mutate()
  })
  const isClash = Object.keys(theirs).length > 0
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {isClash && (
          <div className="notice" role="alert">
            <strong>Somebody else has changed this meanwhile.</strong>
            <p>Nothing of yours is saved yet. Compare below, then save yours or take theirs.</p>
          </div>
        )}
        {fields.map((field) => (
          <div key={field.name}>
            <FieldInput
              field={field}
              text={typed[field.name] ?? field.value}
              onText={(text) => setTyped({ ...typed, [field.name]: text })}
            />
            {theirs[field.name] !== undefined && (
              <p className="theirs">
                Now it is: <span className="long">{theirs[field.name] || 'empty'}</span>{' '}
                <button
                  type="button"
                  onClick={() => {
                    const { [field.name]: _, ...others } = theirs
                    setTyped({ ...typed, [field.name]: field.value })
                    setTheirs(others)
                  }}
                >
                  Take theirs
                </button>
              </p>
            )}
          </div>
        ))}
        {children}
        <FormEnd
          submit={isClash ? 'Save mine' : verb}
          isBusy={saving.isPending}
          refusal={!isClash && saving.error}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

interface InputProps {
  readonly field: Field
  readonly text: string
  readonly onText: (text: string) => void
}

/** A field with its label. */
export function FieldInput({ field: { name, label, options, isLong, input, hint }, text, onText }: InputProps) {
  const id = useId()
  const shared = {
    id,
    name,
    value: text,
    onChange: (event: { target: { value: string } }) => onText(event.target.value),
    ...(hint && { 'aria-describedby': `${id}-hint` }),
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {options ? (
        <select {...shared} required={input?.required}>
          <Options of={options} />
        </select>
      ) : isLong ? (
        <textarea {...shared} required={input?.required} maxLength={input?.maxLength} />
      ) : (
        <input {...shared} {...input} />
      )}
      {hint && (
        <span className="quiet" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}
