import { VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

const EVERY_MS = 3_000

/** Tells screen readers what changes by itself: calmly, however often it does. */
export function Announcement({ words }: { words: string }) {
  const [told, setTold] = useState(words)
  const latest = useRef(words)
  useEffect(() => {
    latest.current = words
  }, [words])
  useEffect(() => {
    const timer = setInterval(() => setTold(latest.current), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return <VisuallyHidden role="status">{told}</VisuallyHidden>
}
