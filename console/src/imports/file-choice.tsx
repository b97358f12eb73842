import { type DragEvent, useState } from 'react'

interface FileChoiceProps {
  readonly file: File | undefined
  readonly onChoose: (file: File) => void
}

const size = (bytes: number) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1000).toLocaleString()} kB` : `${(bytes / 1e6).toFixed(1)} MB`

/** A place to drop a file, or to choose one. */
export function FileChoice({ file, onChoose }: FileChoiceProps) {
  const [isOver, setIsOver] = useState(false)
  const over = (event: DragEvent, next: boolean) => {
    event.preventDefault()
    setIsOver(next)
  }
  const take = (files: FileList | null) => {
    const [first] = files ?? []
    if (first) onChoose(first)
  }
  return (
    <label
      className={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false)
        take(event.dataTransfer.files)
      }}
    >
      <span>
        {file ? (
          <>
            <strong className="long">{file.name}</strong>{' '}
            <span className="quiet">{size(file.size)}. Drop or choose another one.</span>
          </>
        ) : (
          <>
            Drop a CSV file here, or <u>choose one</u>
          </>
        )}
      </span>
      <input
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        onChange={({ target }) => {
          take(target.files)
          // The same file can be chosen once more, as it is by then.
          target.value = ''
        }}
      />
    </label>
  )
}
