/** The page of `toolenv play --browser`. */
import { render } from 'preact';
import '../style.css';
import { PlayApp } from './play-app.tsx';

render(<PlayApp />, document.getElementById('page')!);
