/** Whether the page is being printed. */
import { useEffect, useState } from 'preact/hooks';

export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const print = matchMedia('print');
    const follow = () => setPrinting(print.matches);
    print.addEventListener('change', follow);
    return () => print.removeEventListener('change', follow);
  }, []);
  return isPrinting;
}
