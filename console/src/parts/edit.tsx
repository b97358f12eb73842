import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import type { Tagged } from '../api/client.ts'
import { isSignedOut, textOf } from '../api/failure.ts'
import { useAction } from './action.tsx'
import { Dialog } from './dialog.tsx'
import { type Option, Options, valueAndText } from './filters.tsx'
import { FormEnd, submitted } from './form-dialog.tsx'
import { Refusal } from './page.tsx'
import { Clash, saveTyped, type Texts, type Typed } from './save-typed.ts'
import { Long } from './text.tsx'

/** A member of a resource as text, and how it is typed. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  /** What a select offers. */
  readonly options?: readonly Option[]
  readonly isLong?: boolean
  /** Types it in another way than an input does. */
  readonly typer?: (text: string, onText: (text: string) => void) => ReactNode
  /** Further attributes of the input, such as `required`. */
  readonly input?: Pick<
    ComponentProps<'input'>,
    'required' | 'type' | 'inputMode' | 'maxLength' | 'min' | 'max' | 'placeholder'
  >
  readonly hint?: string
}

interface EditFormProps<Resource, Result> {
  /** As it was read; for something new, what the form begins with. */
  readonly of: Tagged<Resource>
  readonly fieldsOf: (resource: Resource) => readonly Field[]
  /** Reads it again once somebody else has changed it. */
  readonly read?: () => Promise<Tagged<Resource>>
  readonly save: (typed: Typed, tag: string) => Promise<Result>
  readonly done: string
  readonly changes: readonly string[]
  /** Comes once it is saved, with the answer; without one when nothing was changed. */
  readonly onDone?: ((result: Result | undefined) => unknown) | undefined
  readonly onClose?: () => void
  /** The word on the button. */
  readonly verb?: string
  readonly children?: ReactNode
}

interface EditProps<Resource, Result> extends EditFormProps<Resource, Result> {
  readonly title: string
  readonly onClose: () => void
}

/** As `EditForm`, in a dialog that closes when it is saved. */
export function Edit<Resource, Result>({ title, ...form }: EditProps<Resource, Result>) {
  const { onClose, onDone } = form
  const isDone = (result: Result | undefined) => {
    onClose()
    return onDone?.(result)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <EditForm {...form} onDone={isDone} />
    </Dialog>
  )
}

/**
 * A form that sends what was changed, provided that nobody else has changed the same meanwhile (`If-Match`). Else it
 * shows both, and saves only when told so. What others have changed elsewhere in the resource stays as they left it.
 */
export function EditForm<Resource, Result>(props: EditFormProps<Resource, Result>) {
  const { of, fieldsOf, read, save, done, changes, onDone, onClose, verb = 'Save', children } = props
  const [base, setBase] = useState(of)
  const [typed, setTyped] = useState<Texts>({})
  const [theirs, setTheirs] = useState<Texts>({})
  const fields = fieldsOf(base.body)

  /** Throws when somebody else has changed the same. */
  async function send(): Promise<Result | undefined> {
    try {
      return await saveTyped({ base, typed, fieldsOf, read, save })
    } catch (error) {
      if (error instanceof Clash) {
        setBase(error.now)
        setTyped(error.mine)
        setTheirs(error.theirs)
      }
      throw error
    }
  }
  const saving = useAction(send, { done, changes, onDone, showsFailures: true })
  const submit = submitted(() => {
    setTheirs({})
    saving.mutate()
  })
  const isClash = Object.keys(theirs).length > 0
  // What was refused of a field is said there: the message begins with its path, such as `price.USD`.
  const refusal = !isClash && !isSignedOut(saving.error) && saving.error
  const [path = ''] = refusal ? textOf(refusal).split(':') : []
  const refused = fields.find(({ name }) => path === name || path.startsWith(`${name}.`))
  return (
    <form onSubmit={submit}>
      {isClash && (
        <div className="notice" role="alert" ref={bringIntoView}>
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
            refusal={field === refused && refusal}
          />
          {theirs[field.name] !== undefined && (
            <p className="theirs">
              Now it is: <Long text={shownOf(field, theirs[field.name] ?? '')} />{' '}
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
        refusal={!refused && refusal}
        onClose={onClose}
      />
    </form>
  )
}

/** The button that was clicked may be far below. */
const bringIntoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'center' })

/** The button that was clicked has lost the focus: the field that was refused gets it. */
function leadBack(element: HTMLElement | null): void {
  bringIntoView(element)
  const field = element?.parentElement?.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea')
  field?.focus({ preventScroll: true })
}

/** A value of a field, as somebody reads it. */
const shownOf = ({ options = [] }: Field, value: string): string =>
  options.map(valueAndText).find(([one]) => one === value)?.[1] || value || 'empty'

interface InputProps {
  readonly field: Field
  readonly text: string
  readonly onText: (text: string) => void
  /** The error that refused what was typed. */
  readonly refusal?: unknown
}

/** A field with its label, its hint, and what was refused of it. */
export function FieldInput({ field, text, onText, refusal }: InputProps) {
  const { name, label, options, isLong, typer, input, hint } = field
  const id = useId()
  const refused = Boolean(refusal) && (
    <div id={`${id}-refusal`} ref={leadBack}>
      <Refusal of={refusal} />
    </div>
  )
  if (typer) {
    return (
      <div>
        <input type="hidden" name={name} value={text} />
        {typer(text, onText)}
        {refused}
      </div>
    )
  }
  const describedBy = [hint && `${id}-hint`, refused && `${id}-refusal`].filter(Boolean).join(' ')
  const shared = {
    id,
    name,
    value: text,
    'aria-invalid': Boolean(refused),
    'aria-describedby': describedBy || undefined,
    onChange: (event: { target: { value: string } }) => onText(event.target.value),
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
      {refused}
    </div>
  )
}
